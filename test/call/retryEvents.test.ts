import { describe, expect, test } from "vitest";
import { type Code, httpStatusOfCode, type StatusError } from "../../src/index.js";
import type { RetryEvent } from "../../src/policy/decisions.js";
import { eventsOfAnswer } from "../../src/policy/retry.js";

// What an answer means for repeating; the third where a time to wait makes it another.
type Row<T> = readonly [of: T, untimed: RetryEvent, timed?: RetryEvent];

const statuses: readonly Row<number>[] = [
  [300, "redirect"],
  [400, "refused"],
  [401, "unauthenticated"],
  [404, "refused"],
  [408, "deadline"],
  [420, "refused"],
  [421, "unprocessed"],
  [422, "refused"],
  [425, "unprocessed"],
  [429, "exhausted", "exhaustedTimed"],
  [500, "unnamedFault"],
  [501, "refused"],
  [502, "gateway"],
  [503, "gateway"],
  [504, "deadline"],
  [519, "otherFault"],
  [520, "gateway"],
  [523, "gateway"],
  [527, "gateway"],
  [528, "otherFault"],
  [529, "gateway"],
  [530, "gateway"],
  [531, "otherFault"],
];

const named: readonly Row<Code>[] = [
  ["UNAVAILABLE", "unavailable"],
  ["RESOURCE_EXHAUSTED", "exhausted", "exhaustedTimed"],
  ["DEADLINE_EXCEEDED", "deadline"],
  ["INTERNAL", "namedFault"],
  ["UNKNOWN", "namedFault"],
  ["UNAUTHENTICATED", "unauthenticated"],
  ["ABORTED", "refused"],
  ["CANCELLED", "cancelled"],
  ["DATA_LOSS", "dataLoss"],
  ["NOT_FOUND", "refused"],
];

describe.each([false, true])("with Retry-After: %s,", (timed) => {
  // The event alone, whichever of the two this is.
  const expected = <T>(rows: readonly Row<T>[]): [T, RetryEvent][] =>
    rows.map(([of, untimed, whenTimed = untimed]) => [of, timed ? whenTimed : untimed]);

  test.each(expected(statuses))("an answer of %i without a name is %s", (status, event) => {
    expect(eventsOfAnswer(undefined, status, timed)).toEqual([event]);
  });

  test.each(expected(named))("an answer that names %s is %s", (code, event) => {
    const events = eventsOfAnswer(code as StatusError["code"], httpStatusOfCode(code), timed);
    expect(events).toEqual([event]);
  });
});

test.each([
  ["UNAVAILABLE", 500, ["unavailable", "unnamedFault"]],
  ["UNAVAILABLE", 421, ["unavailable", "unprocessed"]],
  ["NOT_FOUND", 503, ["refused", "gateway"]],
  ["RESOURCE_EXHAUSTED", 503, ["exhausted", "gateway"]],
] as const)("a name at odds with its status is both: %s on %i is %j", (code, status, events) => {
  expect(eventsOfAnswer(code, status, false)).toEqual(events);
});
