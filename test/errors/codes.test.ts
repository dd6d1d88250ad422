import { describe, expect, test } from "vitest";
import { type Code, codeOfHttpStatus, httpStatusOfCode } from "../../src/index.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { codeTable, failureTable } from "../support/serviceTables.js";

const server = useRecordingServer();

/** Responses without a body: their code, whether that is our choice, and whether the call may have run. */
const statuses = (
  [
    [[300, 301, 302, 303, 304, 307, 308], "FAILED_PRECONDITION", true, "unknown"],
    [[400, 406, 413, 414, 415, 422, 431], "INVALID_ARGUMENT", true, "no"],
    [[401], "UNAUTHENTICATED", false, "no"],
    [[402, 412], "FAILED_PRECONDITION", true, "no"],
    [[403], "PERMISSION_DENIED", false, "no"],
    [[404], "NOT_FOUND", false, "no"],
    [[405], "UNIMPLEMENTED", true, "no"],
    [[408], "DEADLINE_EXCEEDED", true, "unknown"],
    [[409], "ABORTED", true, "no"],
    [[416], "OUT_OF_RANGE", true, "no"],
    [[421, 425], "UNAVAILABLE", true, "no"],
    [[429], "RESOURCE_EXHAUSTED", false, "no"],
    [[499], "CANCELLED", false, "unknown"],
    [[501], "UNIMPLEMENTED", false, "no"],
    [[503], "UNAVAILABLE", false, "unknown"],
    [[502, 520, 521, 522, 523, 524, 525, 526, 527, 529, 530], "UNAVAILABLE", true, "unknown"],
    [[504], "DEADLINE_EXCEEDED", false, "unknown"],
    [[418], "UNKNOWN", true, "no"],
    [[500, 505, 511, 528, 599], "UNKNOWN", true, "unknown"],
  ] as const
).flatMap(([each, ...known]) => each.map((status) => [status, ...known] as const));

/** The codes after which a call may have run, if the service names them with the status of its own table. */
const unclear = /^(CANCELLED|UNKNOWN|DEADLINE_EXCEEDED|INTERNAL|UNAVAILABLE|DATA_LOSS)$/;
const named = failureTable.map(([code]) => [code, unclear.test(code) ? "unknown" : "no"] as const);

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

describe.each(transports)("over $name", ({ options }) => {
  test.each(statuses)(
    "a response of %i alone is %s, inferred %s, executed %s",
    async (status, code, inferred, executed) => {
      server.reply({ status, text: "" });
      const error = await failureOf(() =>
        connect(server.url, options).reinforcementFineTuningJobs.resume("j"),
      );
      expect(error).toMatchObject({ code, inferred, executed, httpStatus: status, codeSource: "status" });
      expect(error.attempts).toEqual([
        { number: 1, durationMs: expect.any(Number), httpStatus: status, code },
      ]);
      // The fetch standard has fetch itself repeat what a 421 refused, once.
      expect(server.requests).toHaveLength(status === 421 && options.fetch ? 2 : 1);
    },
  );

  test.each(named)("the service's %s means executed %s", async (code, executed) => {
    server.reply({ status: httpStatusOfCode(code as Code), json: { code } });
    const error = await failureOf(() => connect(server.url, options).reinforcementFineTuningJobs.resume("j"));
    expect(error).toMatchObject({ code, executed, inferred: false, codeSource: "body" });
  });

  test.each(contradictions)("status %i naming %s means executed %s", async (httpStatus, code, executed) => {
    server.reply({ status: httpStatus, json: { code } });
    const error = await failureOf(() => connect(server.url, options).reinforcementFineTuningJobs.resume("j"));
    expect(error).toMatchObject({ code, httpStatus, executed, inferred: false, codeSource: "body" });
  });
});
