import { beforeAll, test } from "vitest";
import { StatusError } from "../../src/index.js";
import { canaryKey } from "../support/canary.js";

beforeAll(() => {
  new StatusError(`Wrong key ${canaryKey}.`, { code: "UNKNOWN", executed: "no", codeSource: "client" });
});
test("passes", () => {});
