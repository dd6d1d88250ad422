import { test } from "vitest";
import { useCountingServer } from "../support/countingServer.js";
import { expectBodiesLetGo } from "../support/queuedBodies.js";

const server = useCountingServer();

test.each([
  ["client's", {}],
  ["caller's", { AGENT: "1" }],
])(
  "two thousand calls of 200 kB that ended in the queue of the %s agent leave less than 20 MB",
  (_whose, env) => expectBodiesLetGo(server, env),
);
