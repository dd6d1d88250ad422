import { expect, test } from "vitest";
import { type Status, throwIfFailed } from "../../src/index.js";
import { thrownBy } from "../support/clients.js";
import { failureTable } from "../support/contract.js";
import { withHint } from "../support/withHint.js";

// gRPC's numbers, in order from 1; the order of the service's table differs.
const numbered =
  "CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED " +
  "RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS " +
  "UNAUTHENTICATED";
type Job = Parameters<typeof throwIfFailed>[0];

test("the service's table has a number for each code", () => {
  expect(failureTable.map(([code]) => code).sort()).toEqual(numbered.split(" ").sort());
});

test.each([
  ...failureTable.map(([code]) => [code, code]),
  ...numbered.split(" ").map((code, index) => [index + 1, code]),
])("a job whose status code is %s throws %s, and it ran", (given, code) => {
  const status = { code: given, message: "The evaluator is gone." };
  const error = thrownBy(() => throwIfFailed({ status } as unknown as Job));
  expect(error).toMatchObject({ code, executed: "yes", inferred: false, codeSource: "body", body: status });
  expect(error.message).toBe(withHint(`[${code}] The evaluator is gone.`, error));
  expect(error.httpStatus).toBeUndefined();
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
  expect(throwIfFailed(job as Job)).toBeUndefined();
});

test.each<[code: unknown, shown: string]>([
  ["TOO_EARLY", "TOO_EARLY"],
  ["not_found", "not_found"],
  ["5", "5"],
  ["__proto__", "__proto__"],
  ["constructor", "constructor"],
  [17, "17"],
  [-1, "-1"],
  [5.5, "5.5"],
  [true, "true"],
  [["NOT_FOUND"], '["NOT_FOUND"]'],
  // What cannot be made a text.
  [{ toString: 1 }, '{"toString":1}'],
  [Object.create(null), "{}"],
  [Symbol("s"), "of type symbol"],
  [5n, "of type bigint"],
  ["x".repeat(1000), "x".repeat(100)],
])(
  "the unknown code %o becomes UNKNOWN, inferred, with the raw status kept, and is named without a message",
  (code, shown) => {
    for (const message of ["m", undefined, { text: "m" }]) {
      const status = { code, message, details: [1] };
      const error = thrownBy(() => throwIfFailed({ status } as unknown as Job));
      expect(error).toMatchObject({ code: "UNKNOWN", inferred: true, executed: "yes" });
      if (typeof code !== "bigint" && typeof code !== "symbol") expect(error.body).toEqual(status);
      const said = message === "m" ? "m" : `The job reports the code ${shown}.`;
      expect(error.message).toBe(withHint(`[UNKNOWN] ${said}`, error));
    }
  },
);

test.each([undefined, null, 5, "job", [], () => {}])(
  "what is no job, such as %j, is an INVALID_ARGUMENT and no TypeError",
  (job) => {
    const error = thrownBy(() => throwIfFailed(job as unknown as Job));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no", codeSource: "client" });
    expect(error.message).toBe(withHint("[INVALID_ARGUMENT] job must be an object.", error));
  },
);

test("a job of a class with a status of its own is read", () => {
  class Own {
    get status(): Status {
      return { code: "ABORTED" };
    }
  }
  const error = thrownBy(() => throwIfFailed(new Own()));
  expect(error.message).toBe(withHint("[ABORTED] The job reports the code ABORTED.", error));
});
