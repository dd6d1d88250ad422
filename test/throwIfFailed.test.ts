import { describe, expect, test } from "vitest";
import { isStatusError, type Status, throwIfFailed } from "../src/index.js";
import { connect, thrownBy, transports } from "./support/clients.js";
import { useRecordingServer } from "./support/recordingServer.js";
import { failureTable } from "./support/serviceTables.js";

const server = useRecordingServer();

test.each(failureTable)("a job whose status is %s throws that code, and it ran", (code) => {
  const status = { code, message: "The evaluator is gone." } as Status;
  const error = thrownBy(() => throwIfFailed({ status }));
  expect(error).toMatchObject({ code, executed: "yes", inferred: false, codeSource: "body", body: status });
  expect(error.message).toBe(`[${code}] The evaluator is gone.`);
  expect(error.httpStatus).toBeUndefined();
  expect(isStatusError(error)).toBe(true);
});

test.each([
  ["no status", {}],
  ["an undefined status", { status: undefined }],
  ["a null status", { status: null }],
  ["an empty status", { status: {} }],
  ["a status without a code", { status: { message: "Fine." } }],
  ["a null code", { status: { code: null } }],
  ["the code OK", { status: { code: "OK", message: "The job is running." } }],
])("a job with %s passes", (_what, job) => {
  expect(throwIfFailed(job as Parameters<typeof throwIfFailed>[0])).toBeUndefined();
});

test.each(["TOO_EARLY", "not_found", "", "__proto__", "constructor", 5, { a: 1 }])(
  "the unknown code %j becomes UNKNOWN, inferred, with the raw status kept",
  (code) => {
    const status = { code, message: "m", details: [1] };
    const error = thrownBy(() => throwIfFailed({ status } as unknown as Parameters<typeof throwIfFailed>[0]));
    expect(error).toMatchObject({ code: "UNKNOWN", inferred: true, executed: "yes" });
    expect(error.body).toEqual(status);
    expect(error.message).toBe("[UNKNOWN] m");
  },
);

test("a status without a message throws with the code's meaning", () => {
  const error = thrownBy(() => throwIfFailed({ status: { code: "ABORTED" } }));
  expect(error.message).toBe("[ABORTED] concurrency conflict; retry at a higher level");
});

test("a status whose message is no text throws with the code's meaning", () => {
  const status = { code: "ABORTED", message: { text: "m" } } as unknown as Status;
  const error = thrownBy(() => throwIfFailed({ status }));
  expect(error.message).toBe("[ABORTED] concurrency conflict; retry at a higher level");
});

describe.each(transports)("over $name", ({ options }) => {
  test("a resumed job can be checked as it came", async () => {
    server.reply({
      json: { dataset: "d", evaluator: "e", status: { code: "DATA_LOSS", message: "Gone." } },
    });
    const job = await connect(server.url, options).reinforcementFineTuningJobs.resume("job-1");
    expect(thrownBy(() => throwIfFailed(job))).toMatchObject({ code: "DATA_LOSS", executed: "yes" });
  });
});
