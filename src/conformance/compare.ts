// Compares the requests and the outcome of a client with what the row of the conformance data expects.
import { isDeepStrictEqual } from "node:util";
import { type Cell, type CellResponse, callsIn, type Expected, placeOf } from "./cell.js";
import type { WaitBounds } from "./data.js";
import type { ReportedOutcome } from "./outcome.js";
import { when } from "./serve/checkRequest.js";
import { holdsKey } from "./serve/rawRequest.js";
import { type RequestLog, waitsIn } from "./serve/serveCell.js";

/**
 * The differences from what the row expects, each of which fails the row; and notes, if an outcome that says less than
 * the row expects is accepted.
 */
interface Comparison {
  readonly differences: readonly string[];
  readonly notes: readonly string[];
}

/** The outcome that a client posted for a conformance row. Its text must not contain any of the API keys. */
interface Posted {
  readonly outcome: ReportedOutcome;
  readonly text: string;
  readonly keys: readonly string[];
  /** Milliseconds from handing out the row to the client until its outcome arrived. */
  readonly took: number;
}

export function compare(cell: Cell, log: RequestLog, posted: Posted): Comparison {
  const { outcome, text, keys, took } = posted;
  const { code, executed, attempts } = outcome;
  // Rows with `orRefused` allow a client to reject the arguments before it sends anything: their id cannot be one segment of
  // a path.
  if (cell.expected.orRefused && code === "INVALID_ARGUMENT" && executed === "no")
    return { differences: different("requests", log.length, 0), notes: [] };
  // After a network fault, a client that cannot see how far a request got may report "unknown" for an expected "no".
  const isFault = cell.steps.some((step) => "network" in step);
  const isWeaker = isFault && cell.expected.executed === "no" && executed === "unknown";
  const expected = isWeaker ? weakened(cell.expected, outcome) : cell.expected;
  const due = expected.attempts ?? expected.requestsByCall?.at(-1) ?? expected.requests;
  const hasKey = holdsKey(text, keys) || holdsKey(JSON.stringify(outcome), keys);
  const ms = Math.round(took);
  const { min, max } = expected.tookMs ?? { min: 0, max: ms };
  const differences = [
    ...different("requests", log.length, expected.requests),
    ...log.flatMap(({ problems }, index) => problems.map((problem) => `request ${index + 1}: ${problem}`)),
    ...waitDifferences(expected, log),
    ...(attempts === undefined || due === "any" ? [] : different("attempts", attempts, due)),
    ...(expected.value
      ? valueDifferences(cell, outcome, text)
      : errorDifferences({ ...cell, expected }, outcome)),
    ...when(ms < min, `time: the call ended after ${ms} ms, and not before ${min} are due`),
    ...when(ms > max, `time: the call ended after ${ms} ms, and at most ${max} are due`),
    ...when(hasKey, "the posted outcome contains the key"),
  ];
  return {
    differences,
    notes: when(isWeaker, "executed: unknown, where a client that sees more says no"),
  };
}

/**
 * Whether a machine that leaves its programs too little time can have caused all of these differences: waits and times
 * that are out of their limits; in a row that can run into a time limit, also what a client counts and reports then.
 */
export function dependOnTime({ client }: Cell, differences: readonly string[], took: number): boolean {
  const { abort, timeoutMs, attemptTimeoutMs, connectTimeoutMs } = client;
  const limits = [abort, timeoutMs, attemptTimeoutMs, connectTimeoutMs];
  const isLimited = took >= shortestDefaultMs || limits.some((limit) => limit !== undefined);
  return differences.every((text) => measured.test(text) || (isLimited && limited.test(text)));
}

// The shortest time limit that a client has by default, which is for connecting.
const shortestDefaultMs = 10_000;
const measured =
  /^(waits?|time|the connection of the aborted call|request \d+: (the connection of the failed|\d+ connections are))\b/;
const limited =
  /^(requests|attempts|code|executed|executedBecause|inferred|codeSource|notRetried|retryAfterMs|message): /;

// The expected outcome if a client says "unknown" instead of "no": it then retries or stops as after a lost connection.
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

function errorDifferences({ expected, steps: [step] }: Cell, outcome: ReportedOutcome): readonly string[] {
  if (outcome.hasValue) return [`value: there is one, instead of the code ${shown(expected.code)}`];
  const { code, executed, retryAfterMs, message } = outcome;
  return [
    ...different("code", code, expected.code),
    ...(expected.executed === undefined ? [] : different("executed", executed, expected.executed)),
    ...different("retryAfterMs", retryAfterMs ?? undefined, expected.retryAfterMs),
    ...comparedNames.flatMap((name) =>
      outcome[name] === undefined || expected[name] === undefined
        ? []
        : different(name, outcome[name], expected[name]),
    ),
    ...(expected.message === undefined || !(step && "response" in step)
      ? []
      : messageDifferences(step.response, message, expected.message)),
  ];
}

// Members of an outcome that are compared only if the client posts them.
const comparedNames = ["executedBecause", "inferred", "codeSource", "notRetried"] as const;

function messageDifferences(
  { status, body }: CellResponse,
  message: string | undefined,
  expected: string | null,
): readonly string[] {
  const wanted = shown(expected ?? `${status}`);
  if (message === undefined) return [`message: none is posted, and it must hold ${wanted}`];
  if (!message.includes(expected ?? `${status}`))
    return [`message: ${shown(message.slice(0, 200))} does not hold ${wanted}`];
  const isPage = typeof body === "string" && /^\s*</.test(body);
  return when(isPage && /<\/?[a-z!]/i.test(message), "message: it shows the tags of a page");
}

/** The differences in the call's value. @param text The posted JSON: JSON.parse would lose digits of long integers. */
function valueDifferences(cell: Cell, outcome: ReportedOutcome, text: string): readonly string[] {
  if (!outcome.hasValue)
    return [`code: ${JSON.stringify(outcome.code)} instead of the value of a valid response`];
  const given = exactly(text) as { readonly value?: unknown; readonly values?: readonly unknown[] };
  if (cell.client.parallel === undefined) return valueDiffers(cell, given.value, outcome);
  return callsIn(cell).flatMap((call, index) =>
    valueDiffers(call, given.values?.[index], outcome).map((text) => `call ${index + 1}: ${text}`),
  );
}

function valueDiffers(cell: Cell, given: unknown, { capabilities = [] }: ReportedOutcome): readonly string[] {
  const { asked, steps, expected } = cell;
  const { answer = {} } = asked;
  const step = steps[Math.min(expected.requests, steps.length) - 1];
  if (typeof answer === "string") {
    const sent = step && "response" in step ? step.response.body : answer;
    const isDue = given === sent || given === Buffer.from(sent).toString("base64");
    return when(
      !isDue,
      `value: ${shown(given)} instead of ${shown(typeof sent === "string" ? sent : "all bytes")}`,
    );
  }
  // A response without fields is {}: a client need not return an empty object.
  const isEmpty = Object.keys(answer).length === 0 || !step || !("response" in step);
  const wanted = isEmpty ? {} : exactly(`${step.response.body}`);
  const [is, should] = [given, wanted].map((value) => compared(value, cell, capabilities));
  const differ = Object.entries(should as object).filter(
    ([name, part]) => !isDeepStrictEqual((is as Record<string, unknown> | null)?.[name], part),
  );
  return when(differ.length > 0, `value: ${differ.map(([name]) => name).join(", ")} not as in the response`);
}

// Removes members that are not compared: each is compared only for clients with a capability that this client lacks.
function compared(value: unknown, { comparedFor = {} }: Cell, capabilities: readonly string[]): unknown {
  const left = structuredClone(value);
  const without = Object.entries(comparedFor).filter(([capability]) => !capabilities.includes(capability));
  for (const pointer of without.flatMap(([, pointers]) => pointers)) {
    const [parent, name] = placeOf(left, pointer);
    if (parent) delete parent[name];
  }
  return left;
}

// Parses JSON, but turns an integer that a double may not hold exactly into a string with its digits.
function exactly(text: string): unknown {
  const kept = text
    .replace(/^\ufeff/, "")
    .replace(/"(?:[^"\\]|\\.)*"|-?\d{16,}(?![\d.eE])/g, (token) =>
      token.startsWith('"') ? token : `"digits ${token}"`,
    );
  return JSON.parse(kept);
}

function waitDifferences(expected: Expected, log: RequestLog): readonly string[] {
  const { requests, requestsByCall, alike } = expected;
  const { minWaitMs = 0, maxWaitMs = Infinity, minTotalWaitMs = 0, minSpreadMs = -Infinity } = expected;
  // With another number of requests than expected, it is unknown which of them are retries.
  if (requestsByCall !== undefined && log.length !== requests) return [];
  const waits = waitsIn(log, requestsByCall);
  const all = waits.map(({ ms }) => ms);
  const total = all.reduce((sum, ms) => sum + ms, 0);
  const spread = Math.max(...all) - Math.min(...all);
  // Equal waits of two programs come from equal random seeds.
  const second = waits.slice(waits.length / 2);
  const { withinMs, atMost } = alike ?? { withinMs: 0, atMost: waits.length };
  const same = second.filter(({ ms }, index) => Math.abs(ms - (all[index] ?? 0)) <= withinMs).length;
  const seeds = `${same} of ${second.length} are the same in both programs (one seed), and at most ${atMost} are due`;
  return [
    ...all.flatMap((ms, index) => [
      ...when(ms < minWaitMs, `wait ${index + 1}: ${ms} ms, and at least ${minWaitMs} are asked for`),
      ...when(ms > maxWaitMs, `wait ${index + 1}: ${ms} ms, and at most ${maxWaitMs} are due`),
    ]),
    ...when(total < minTotalWaitMs, `waits: ${total} ms together, and at least ${minTotalWaitMs} are due`),
    ...when(spread < minSpreadMs, `waits: all within ${spread} ms, and they are drawn by chance (jitter)`),
    ...(expected.waits ?? []).flatMap((bounds) => drawnDifferences(bounds, waits)),
    ...when(same > atMost, `waits: ${seeds}`),
  ];
}

// Checks the random waits before the nth retry of all calls, which all have the same distribution.
function drawnDifferences(bounds: WaitBounds, waits: ReturnType<typeof waitsIn>): readonly string[] {
  const { retry, minMeanMs, maxMeanMs, minSpreadMs, maxLeastMs, minGrowthMs = 0 } = bounds;
  const before = (nth: number): readonly number[] =>
    waits.flatMap(({ retry, ms }) => (retry === nth ? [ms] : []));
  const drawn = before(retry);
  const mean = meanOf(drawn);
  const growth = retry > 1 ? mean - meanOf(before(retry - 1)) : 0;
  const least = Math.min(...drawn);
  // Without the shortest and the longest tenth: a busy machine makes some waits longer.
  const ordered = [...drawn].sort((a, b) => a - b);
  const left = Math.floor(ordered.length / 10);
  const spread = (ordered[ordered.length - 1 - left] ?? 0) - (ordered[left] ?? 0);
  return [
    ...when(mean < minMeanMs, `${mean} ms on average, and at least ${minMeanMs} are due`),
    ...when(mean > maxMeanMs, `${mean} ms on average, and at most ${maxMeanMs} are due`),
    ...when(spread < minSpreadMs, `four of five within ${spread} ms, and at least ${minSpreadMs} are due`),
    ...when(least > maxLeastMs, `none below ${least} ms, and one below ${maxLeastMs} is due`),
    ...when(
      growth < minGrowthMs,
      `${growth} ms longer on average than those before, and at least ${minGrowthMs} are due`,
    ),
  ].map((text) => `waits before retry ${retry}: ${text}`);
}

const meanOf = (waits: readonly number[]): number =>
  Math.round(waits.reduce((sum, ms) => sum + ms, 0) / waits.length);
