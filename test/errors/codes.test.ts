import { expect, test } from "vitest";
import { type Code, codeOfHttpStatus, httpStatusOfCode } from "../../src/index.js";
import { connect, failureOf } from "../support/clients.js";
import { codeTable } from "../support/contract.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();

/** Statuses without a name: their code, and whether that is our choice. */
const statuses = (
  [
    [[300, 301, 302, 303, 304, 307, 308], "FAILED_PRECONDITION", true],
    [[400, 406, 413, 414, 415, 422, 431], "INVALID_ARGUMENT", true],
    [[401], "UNAUTHENTICATED", false],
    [[402, 412], "FAILED_PRECONDITION", true],
    [[403], "PERMISSION_DENIED", false],
    [[404], "NOT_FOUND", false],
    [[405], "UNIMPLEMENTED", true],
    [[408], "DEADLINE_EXCEEDED", true],
    [[409], "ABORTED", true],
    [[416], "OUT_OF_RANGE", true],
    [[421, 425], "UNAVAILABLE", true],
    [[429], "RESOURCE_EXHAUSTED", false],
    [[499], "CANCELLED", false],
    [[501], "UNIMPLEMENTED", false],
    [[503], "UNAVAILABLE", false],
    [[502, 520, 521, 522, 523, 524, 525, 526, 527, 529, 530], "UNAVAILABLE", true],
    [[504], "DEADLINE_EXCEEDED", false],
    [[418], "UNKNOWN", true],
    [[500, 505, 511, 528, 599], "UNKNOWN", true],
  ] as const
).flatMap(([each, ...known]) => each.map((status) => [status, ...known] as const));

/** Named codes on a status that is not theirs: the more careful of the two readings counts. */
const contradictions: readonly (readonly [status: number, code: string, executed: string])[] = [
  [500, "NOT_FOUND", "unknown"],
  [503, "RESOURCE_EXHAUSTED", "unknown"],
  [504, "INVALID_ARGUMENT", "unknown"],
  [404, "UNAVAILABLE", "unknown"],
  [400, "INTERNAL", "unknown"],
  [499, "NOT_FOUND", "unknown"],
  [408, "INVALID_ARGUMENT", "unknown"],
  [400, "NOT_FOUND", "no"],
  [501, "INVALID_ARGUMENT", "no"],
];

test.each(statuses)("codeOfHttpStatus(%i) is %s, inferred %s", (status, code, inferred) => {
  expect(codeOfHttpStatus(status)).toEqual({ code, inferred });
});

test.each(codeTable)("httpStatusOfCode(%s) is %i", (code, status) => {
  expect(httpStatusOfCode(code as Code)).toBe(status);
});

test("the two directions are no inverses: only codes alone on their status come back", () => {
  const back = codeTable.filter(([code, status]) => codeOfHttpStatus(status).code === code);
  expect(back.map(([code]) => code)).toEqual([
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "PERMISSION_DENIED",
    "UNAUTHENTICATED",
    "RESOURCE_EXHAUSTED",
    "ABORTED",
    "UNIMPLEMENTED",
    "UNAVAILABLE",
  ]);
});

// What a call makes of a response with each status, name and both: the rows of contract/conformance.
test.each(contradictions)("status %i naming %s means executed %s", async (httpStatus, code, executed) => {
  server.reply({ status: httpStatus, json: { code } });
  const error = await failureOf(() => connect(server.url).reinforcementFineTuningJobs.resume("j"));
  expect(error).toMatchObject({ code, httpStatus, executed, inferred: false, codeSource: "body" });
});
