// What a client did and posted, against what must come of the row.
import { isDeepStrictEqual } from "node:util";
import type { Cell, Expected } from "./cells.js";
import type { ReportedOutcome } from "./outcome.js";
import { type RequestLog, waitsIn } from "./serve/serveCell.js";

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
}

/** Compares one row. */
export function compare(cell: Cell, log: RequestLog, posted: Posted): Comparison {
  const { outcome } = posted;
  const weaker = isWeaker(cell, outcome);
  const expected = weaker ? weakened(cell.expected, outcome) : cell.expected;
  const differences = [
    ...different("requests", log.length, expected.requests),
    ...log.flatMap(({ problems }, index) => problems.map((problem) => `request ${index + 1}: ${problem}`)),
    ...waitDifferences(expected, log),
    ...attemptDifferences(expected, outcome),
    ...(expected.value
      ? valueDifferences(answerDue(cell), outcome)
      : errorDifferences({ ...cell, expected }, outcome)),
    ...leaks(posted),
  ];
  return { differences, notes: weaker ? ["executed: unknown, where a client that sees more says no"] : [] };
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

function waitDifferences(expected: Expected, log: RequestLog): readonly string[] {
  const { requests, requestsByCall, minWaitMs = 0, maxWaitMs, minTotalWaitMs, minSpreadMs } = expected;
  // Of other requests nobody knows which of them are retries.
  if (requestsByCall !== undefined && log.length !== requests) return [];
  const waits = waitsIn(log, requestsByCall);
  const found = waits.flatMap((ms, index) => {
    if (ms < minWaitMs) return [`wait ${index + 1}: ${ms} ms, and at least ${minWaitMs} are asked for`];
    return maxWaitMs !== undefined && ms > maxWaitMs
      ? [`wait ${index + 1}: ${ms} ms, and at most ${maxWaitMs} are due`]
      : [];
  });
  const total = waits.reduce((sum, ms) => sum + ms, 0);
  if (minTotalWaitMs !== undefined && total < minTotalWaitMs) {
    found.push(`waits: ${total} ms together, and at least ${minTotalWaitMs} are due`);
  }
  const spread = Math.max(...waits) - Math.min(...waits);
  if (minSpreadMs !== undefined && spread < minSpreadMs) {
    found.push(`waits: all within ${spread} ms, and they are drawn by chance (jitter)`);
  }
  return found;
}

// What the last request that is due is answered with; a client need not hand on an answer that has no fields.
function answerDue({ asked, steps, expected }: Cell): object | string {
  const { answer = {} } = asked;
  if (typeof answer === "string" || Object.keys(answer).length === 0) return answer;
  const step = steps[Math.min(expected.requests, steps.length) - 1];
  return step && "answer" in step ? JSON.parse(`${step.answer.body}`) : {};
}

function valueDifferences(
  answer: object | string,
  { hasValue, value, code }: ReportedOutcome,
): readonly string[] {
  if (!hasValue) return [`code: ${shown(code)} instead of the value of a good answer`];
  if (typeof answer === "string") return different("value", value, answer);
  const held = Object.entries(answer).filter(
    ([name, part]) => !isDeepStrictEqual((value as Record<string, unknown> | null)?.[name], part),
  );
  return held.length === 0 ? [] : [`value: ${held.map(([name]) => name).join(", ")} not as answered`];
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
