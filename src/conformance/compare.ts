// What a client did and posted, against what must come of the row.
import { isDeepStrictEqual } from "node:util";
import type { Cell, Expected } from "./cells.js";
import { valueDifferences } from "./compareValue.js";
import { timeDifferences, waitDifferences } from "./compareWaits.js";
import type { ReportedOutcome } from "./outcome.js";
import type { RequestLog } from "./serve/serveCell.js";

/** What differs in one row, and what is weaker than it could be. */
export interface Comparison {
  readonly differences: readonly string[];
  readonly notes: readonly string[];
}

/** What was posted, as text: it must not hold a key. */
export interface Posted {
  readonly outcome: ReportedOutcome;
  readonly text: string;
  readonly keys: readonly string[];
  /** How long after the row was given, in milliseconds. */
  readonly took: number;
}

/** Compares one row. */
export function compare(cell: Cell, log: RequestLog, posted: Posted): Comparison {
  const { outcome, text, took } = posted;
  if (cell.expected.orRefused && isRefusal(outcome)) return { differences: sentIn(log), notes: [] };
  const weaker = isWeaker(cell, outcome);
  const expected = weaker ? weakened(cell.expected, outcome) : cell.expected;
  const differences = [
    ...different("requests", log.length, expected.requests),
    ...log.flatMap(({ problems }, index) => problems.map((problem) => `request ${index + 1}: ${problem}`)),
    ...waitDifferences(expected, log),
    ...attemptDifferences(expected, outcome),
    ...(expected.value
      ? valueDifferences(cell, outcome, text)
      : errorDifferences({ ...cell, expected }, outcome)),
    ...timeDifferences(expected, took),
    ...leaks(posted),
  ];
  return { differences, notes: weaker ? ["executed: unknown, where a client that sees more says no"] : [] };
}

// What cannot stand in a path as one segment may be refused, but then before anything is sent.
function isRefusal({ code, executed }: ReportedOutcome): boolean {
  return code === "INVALID_ARGUMENT" && executed === "no";
}

function sentIn(log: RequestLog): readonly string[] {
  return different("requests", log.length, 0);
}

// Where the network failed, a client that cannot see how far a request got may know less, never more.
function isWeaker({ steps, expected }: Cell, { executed }: ReportedOutcome): boolean {
  return expected.executed === "no" && executed === "unknown" && steps.some((step) => "network" in step);
}

// Then it decides as after a lost connection.
function weakened(expected: Expected, { attempts = 0, notRetried = "" }: ReportedOutcome): Expected {
  const { executedBecause: _, ...known } = expected;
  return {
    ...known,
    executed: "unknown",
    ...(attempts > 0 && attempts <= mostAttempts && { attempts }),
    ...(lostConnection.has(notRetried) && { notRetried }),
  };
}

const mostAttempts = 3;
const lostConnection: ReadonlySet<string> = new Set(["not-safe", "retries-used-up"]);

function different(name: string, is: unknown, expected: unknown): readonly string[] {
  if (isDeepStrictEqual(is, expected)) return [];
  return [`${name}: ${shown(is)} instead of ${shown(expected)}`];
}

function shown(value: unknown): string {
  return value === undefined ? "none" : (JSON.stringify(value) ?? "none");
}

function attemptDifferences(expected: Expected, { attempts }: ReportedOutcome): readonly string[] {
  const { requestsByCall, requests } = expected;
  const wanted = expected.attempts ?? requestsByCall?.at(-1) ?? requests;
  return attempts === undefined ? [] : different("attempts", attempts, wanted);
}

function errorDifferences(cell: Cell, outcome: ReportedOutcome): readonly string[] {
  const { expected } = cell;
  if (outcome.hasValue) return [`value: there is one, instead of the code ${shown(expected.code)}`];
  return [
    ...different("code", outcome.code, expected.code),
    ...(expected.executed === undefined ? [] : different("executed", outcome.executed, expected.executed)),
    ...different("retryAfterMs", outcome.retryAfterMs ?? undefined, expected.retryAfterMs),
    ...compared.flatMap((name) =>
      outcome[name] === undefined || expected[name] === undefined
        ? []
        : different(name, outcome[name], expected[name]),
    ),
    ...messageDifferences(cell, outcome),
  ];
}

// What a client may leave out.
const compared = ["executedBecause", "inferred", "codeSource", "notRetried"] as const;

function messageDifferences({ steps, expected }: Cell, { message }: ReportedOutcome): readonly string[] {
  const [step] = steps;
  if (expected.message === undefined || !(step && "answer" in step)) return [];
  const { status, body } = step.answer;
  const wanted = expected.message ?? `${status}`;
  if (message === undefined) return [`message: none is posted, and it must hold ${shown(wanted)}`];
  if (!message.includes(wanted))
    return [`message: ${shown(message.slice(0, 200))} does not hold ${shown(wanted)}`];
  const page = typeof body === "string" && /^\s*</.test(body);
  return page && /<\/?[a-z!]/i.test(message) ? ["message: it shows the tags of a page"] : [];
}

function leaks({ text, keys, outcome }: Posted): readonly string[] {
  const decoded = JSON.stringify(outcome);
  return keys.some((key) => text.includes(key) || decoded.includes(key))
    ? ["the key stands in what was posted"]
    : [];
}
