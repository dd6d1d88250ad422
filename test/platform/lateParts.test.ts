import { expect, test } from "vitest";
import { loaded, startCall } from "../../src/call/callPromise.js";
import { isStatusError } from "../../src/index.js";

test("a part of the package that cannot be loaded is an error of the call that needs it, and nothing was sent", async () => {
  const cause = new TypeError("Failed to fetch dynamically imported module");
  const call = startCall("uploadDatasetFile", { secrets: [] }, () => loaded(Promise.reject(cause)));
  const error = await call.catch((caught: unknown) => caught);
  expect(isStatusError(error, "UNAVAILABLE")).toBe(true);
  expect(error).toMatchObject({
    executed: "no",
    executedBecause: "nothing-sent",
    codeSource: "client",
    operation: "uploadDatasetFile",
    notRetried: "refused",
    attempts: [],
    cause,
  });
  expect(String(error)).toContain("A part of this package could not be loaded. Check the network");
});
