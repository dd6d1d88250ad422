import { describe, expect, test } from "vitest";
import { isStatusError, type Status, throwIfFailed } from "../../src/index.js";
import { connect, thrownBy, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { failureTable } from "../support/serviceTables.js";
import { withHint } from "../support/withHint.js";

const server = useRecordingServer();

test.each(failureTable)("a job whose status is %s throws that code, and it ran", (code) => {
  const status = { code, message: "The evaluator is gone." } as Status;
  const error = thrownBy(() => throwIfFailed({ status }));
  expect(error).toMatchObject({ code, executed: "yes", inferred: false, codeSource: "body", body: status });
  expect(error.message).toBe(withHint(`[${code}] The evaluator is gone.`, error));
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
  ["the code 0, which is OK's number", { status: { code: 0, message: "The job is running." } }],
  ["a status that is a text", { status: "NOT_FOUND" }],
  ["a status that is a number", { status: 5 }],
  ["a status that is a list", { status: [{ code: "NOT_FOUND" }] }],
])("a job with %s passes", (_what, job) => {
  expect(throwIfFailed(job as Parameters<typeof throwIfFailed>[0])).toBeUndefined();
});

// gRPC's numbers, in order from 1; the order of the service's table differs.
const numbered =
  "CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED " +
  "RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS " +
  "UNAUTHENTICATED";

test.each(numbered.split(" ").map((code, index) => [index + 1, code]))(
  "a job whose status code is the number %i throws %s, and it ran",
  (number, code) => {
    const status = { code: number, message: "The evaluator is gone." };
    const error = thrownBy(() => throwIfFailed({ status } as unknown as Parameters<typeof throwIfFailed>[0]));
    expect(error).toMatchObject({ code, executed: "yes", inferred: false, codeSource: "body", body: status });
    expect(error.message).toBe(withHint(`[${code}] The evaluator is gone.`, error));
  },
);

const unknownCodes: readonly unknown[] = [
  "TOO_EARLY",
  "not_found",
  "5",
  "",
  "__proto__",
  "constructor",
  17,
  -1,
  5.5,
  true,
  { a: 1 },
  ["NOT_FOUND"],
  // What cannot be made a text.
  { toString: 1, valueOf: 2 },
];

test.each(unknownCodes)("the unknown code %j becomes UNKNOWN, inferred, with the raw status kept", (code) => {
  const status = { code, message: "m", details: [1] };
  const error = thrownBy(() => throwIfFailed({ status } as unknown as Parameters<typeof throwIfFailed>[0]));
  expect(error).toMatchObject({ code: "UNKNOWN", inferred: true, executed: "yes" });
  expect(error.body).toEqual(status);
  expect(error.message).toBe(withHint("[UNKNOWN] m", error));
});

test.each<[shown: string, code: unknown]>([
  ["TOO_EARLY", "TOO_EARLY"],
  ["17", 17],
  ['{"toString":1}', { toString: 1 }],
  ["{}", Object.create(null)],
  ["of type symbol", Symbol("s")],
  ["of type bigint", 5n],
  ["x".repeat(100), "x".repeat(1000)],
])("an unknown code without a message is named: %s", (shown, code) => {
  const status = { code } as unknown as Status;
  const error = thrownBy(() => throwIfFailed({ status }));
  expect(error.message).toBe(withHint(`[UNKNOWN] The job reports the code ${shown}.`, error));
});

test.each([undefined, null, 5, "job", [], () => {}])(
  "what is no job, such as %j, is an INVALID_ARGUMENT and no TypeError",
  (job) => {
    const error = thrownBy(() => throwIfFailed(job as unknown as Parameters<typeof throwIfFailed>[0]));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no", codeSource: "client" });
    expect(error.message).toBe(withHint("[INVALID_ARGUMENT] job must be an object.", error));
  },
);

test("a job of a class with a status of its own is read", () => {
  class Job {
    get status(): Status {
      return { code: "ABORTED" };
    }
  }
  expect(thrownBy(() => throwIfFailed(new Job())).code).toBe("ABORTED");
});

test("a status without a message throws with the code", () => {
  const error = thrownBy(() => throwIfFailed({ status: { code: "ABORTED" } }));
  expect(error.message).toBe(withHint("[ABORTED] The job reports the code ABORTED.", error));
});

test("a status whose message is no text throws with the code", () => {
  const status = { code: "ABORTED", message: { text: "m" } } as unknown as Status;
  const error = thrownBy(() => throwIfFailed({ status }));
  expect(error.message).toBe(withHint("[ABORTED] The job reports the code ABORTED.", error));
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
