import { describe, expect, test } from "vitest";
import { eventsOfAnswer, type RetryEvent } from "../src/call/retry.js";
import { type Code, codeOfHttpStatus, httpStatusOfCode, type StatusError } from "../src/index.js";

// What an answer means for repeating; the third where a time to wait makes it another.
type Row<T> = readonly [of: T, untimed: RetryEvent, timed?: RetryEvent];

const statuses: readonly Row<number>[] = [
  [300, "final"],
  [400, "final"],
  [401, "unauthenticated"],
  [404, "final"],
  [408, "deadline"],
  [420, "final"],
  [421, "misdirected"],
  [422, "final"],
  [425, "misdirected"],
  [429, "exhausted", "exhaustedTimed"],
  [500, "unnamedFault"],
  [501, "final"],
  [502, "gateway"],
  [503, "gateway"],
  [504, "deadline"],
  [519, "final"],
  [520, "gateway"],
  [523, "gateway"],
  [527, "gateway"],
  [528, "final"],
  [529, "gateway"],
  [530, "gateway"],
  [531, "final"],
];

const named: readonly Row<Code>[] = [
  ["UNAVAILABLE", "unavailable"],
  ["RESOURCE_EXHAUSTED", "exhausted", "exhaustedTimed"],
  ["DEADLINE_EXCEEDED", "deadline"],
  ["INTERNAL", "namedFault"],
  ["UNKNOWN", "namedFault"],
  ["UNAUTHENTICATED", "unauthenticated"],
  ["ABORTED", "final"],
  ["CANCELLED", "final"],
  ["DATA_LOSS", "final"],
  ["NOT_FOUND", "final"],
];

describe.each([false, true])("with Retry-After: %s,", (timed) => {
  // The event alone, whichever of the two this is.
  const expected = <T>(rows: readonly Row<T>[]): [T, RetryEvent][] =>
    rows.map(([of, untimed, whenTimed = untimed]) => [of, timed ? whenTimed : untimed]);

  test.each(expected(statuses))("an answer of %i without a name is %s", (status, event) => {
    const { code } = codeOfHttpStatus(status) as { code: StatusError["code"] };
    expect(eventsOfAnswer(code, false, status, timed)).toEqual([event]);
  });

  test.each(expected(named))("an answer that names %s is %s", (code, event) => {
    const events = eventsOfAnswer(code as StatusError["code"], true, httpStatusOfCode(code), timed);
    expect(events).toEqual([event]);
  });
});

test.each([
  ["UNAVAILABLE", 500, ["unavailable", "unnamedFault"]],
  ["UNAVAILABLE", 421, ["unavailable", "misdirected"]],
  ["NOT_FOUND", 503, ["final", "gateway"]],
  ["RESOURCE_EXHAUSTED", 503, ["exhausted", "gateway"]],
] as const)("a name at odds with its status is both: %s on %i is %j", (code, status, events) => {
  expect(eventsOfAnswer(code, true, status, false)).toEqual(events);
});
