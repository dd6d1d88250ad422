import { test } from "vitest";
import { useCountingServer } from "./support/countingServer.js";
import { expectBodiesLetGo } from "./support/queuedBodies.js";

const server = useCountingServer();

test("two thousand calls of 200 kB that ended in the queue of the client's agent leave less than 20 MB", () =>
  expectBodiesLetGo(server, {}));
