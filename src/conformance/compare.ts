// Compares the requests and the outcome of a client with what the row of the conformance data expects.
import { isDeepStrictEqual } from "node:util";
import { type Cell, type CellResponse, callsIn, placeOf, responseIn } from "./cell.js";
import type { RowExpected, WaitBounds } from "./data.js";
import { different, outside, shown, when } from "./differences.js";
import type { ReportedOutcome } from "./outcome.js";
import { holdsKey } from "./serve/checkRequest.js";
import { type RequestLog, waitsIn } from "./serve/serveCell.js";

/** The outcome that a client posted for a conformance row. Its text must not contain any of the API keys. */
interface Posted {
  readonly outcome: ReportedOutcome;
  readonly text: string;
  readonly keys: readonly string[];
  /** Milliseconds from handing out the row to the client until its outcome arrived. */
  readonly took: number;
}

/**
 * The differences from what the row expects, each of which fails the row; and notes, if an outcome that says less than
 * the row expects is accepted.
 */
export function compare(
  cell: Cell,
  log: RequestLog,
  { outcome, text, keys, took }: Posted,
): Readonly<Record<"differences" | "notes", readonly string[]>> {
  const { code, executed, attempts } = outcome;
  // With `orRefused` a client may reject the arguments before it sends anything.
  if (cell.expected.orRefused && code === "INVALID_ARGUMENT" && executed === "no")
    return { differences: different("requests", log.length, 0), notes: [] };
  // After a network fault, a client that cannot see how far a request got may report "unknown" for an expected "no".
  const isFault = cell.steps.some((step) => "network" in step);
  const isWeaker = isFault && cell.expected.executed === "no" && executed === "unknown";
  const expected = isWeaker ? weakened(cell.expected, outcome) : cell.expected;
  const due = expected.attempts ?? expected.requestsByCall?.at(-1) ?? expected.requests;
  const hasKey = holdsKey(text, keys) || holdsKey(JSON.stringify(outcome), keys);
  const { min, max } = expected.tookMs ?? {};
  const differences = [
    ...different("requests", log.length, expected.requests),
    ...log.flatMap(({ problems }, index) => problems.map((problem) => `request ${index + 1}: ${problem}`)),
    ...waitDifferences(expected, log),
    ...(attempts === undefined || due === "any" ? [] : different("attempts", attempts, due)),
    ...(expected.value
      ? valueDifferences(cell, outcome, text)
      : errorDifferences({ ...cell, expected }, outcome)),
    ...outside("time", Math.round(took), min, max),
    ...when(hasKey, "the posted outcome contains the key"),
  ];
  return { differences, notes: when(isWeaker, "executed: unknown, where a client that sees more says no") };
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
function weakened(expected: RowExpected, { attempts = 0, notRetried = "" }: ReportedOutcome): RowExpected {
  const { executedBecause: _, ...known } = expected;
  return {
    ...known,
    executed: "unknown",
    ...(attempts > 0 && attempts <= 3 && { attempts }),
    ...(/^(not-safe|retries-used-up)$/.test(notRetried) && { notRetried }),
  };
}

function errorDifferences({ expected, steps: [step] }: Cell, outcome: ReportedOutcome): readonly string[] {
  if (outcome.hasValue) return [`value: there is one, instead of the code ${shown(expected.code)}`];
  const { code, retryAfterMs, message } = outcome;
  return [
    ...different("code", code, expected.code),
    ...different("retryAfterMs", retryAfterMs ?? undefined, expected.retryAfterMs),
    ...comparedNames.flatMap((name) =>
      outcome[name] === undefined || expected[name] === undefined
        ? []
        : different(name, outcome[name], expected[name]),
    ),
    ...(expected.message === undefined
      ? []
      : messageDifferences(responseIn(step), message, expected.message)),
  ];
}

// Members of an outcome that are compared only if the client posts them, as it must `executed` with a code.
const comparedNames = ["executed", "executedBecause", "inferred", "codeSource", "notRetried"] as const;

function messageDifferences(
  response: CellResponse | undefined,
  message: string | undefined,
  expected: string | null,
): readonly string[] {
  const wanted = expected ?? `${response?.status}`;
  const isPage = /^\s*</.test(`${response?.body}`);
  return [
    ...when(
      !message?.includes(wanted),
      `message: ${shown(message?.slice(0, 200))} does not hold ${shown(wanted)}`,
    ),
    ...when(isPage && /<\/?[a-z!]/i.test(`${message}`), "message: it shows the tags of a page"),
  ];
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
  const { body: sent = "{}" } = responseIn(steps[Math.min(expected.requests, steps.length) - 1]) ?? {};
  if (typeof answer === "string") {
    const base64 = Buffer.from(sent).toString("base64");
    const due = typeof sent === "string" ? sent : base64;
    return given === base64 ? [] : different("value", given, due);
  }
  // A response without fields is {}: a client need not return an empty object.
  const wanted = exactly(Object.keys(answer).length === 0 ? "{}" : `${sent}`);
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
    if (typeof parent === "object") delete parent[name];
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

function waitDifferences(expected: RowExpected, log: RequestLog): readonly string[] {
  const { requests, requestsByCall, minSpreadMs, waits: bounds = [], alike } = expected;
  // With another number of requests than expected, it is unknown which of them are retries.
  if (requestsByCall !== undefined && log.length !== requests) return [];
  const waits = waitsIn(log, requestsByCall);
  const all = waits.map(({ ms }) => ms);
  // Equal waits of two programs come from equal random seeds.
  const second = all.slice(all.length / 2);
  const { withinMs, atMost } = alike ?? { withinMs: 0, atMost: all.length };
  const same = second.filter((ms, index) => Math.abs(ms - (all[index] ?? 0)) <= withinMs).length;
  const seeds = `${same} of ${second.length} are the same in both programs (one seed), and at most ${atMost} are due`;
  return [
    ...all.flatMap((ms, index) => outside(`wait ${index + 1}`, ms, expected.minWaitMs, expected.maxWaitMs)),
    ...outside("waits, all together", sumOf(all), expected.minTotalWaitMs),
    ...(minSpreadMs ? outside("waits, from the shortest to the longest", spreadOf(all), minSpreadMs) : []),
    ...bounds.flatMap((each) => drawnDifferences(each, waits)),
    ...when(same > atMost, `waits: ${seeds}`),
  ];
}

// Checks the random waits before the nth retry of all calls, which all have the same distribution.
function drawnDifferences(bounds: WaitBounds, waits: ReturnType<typeof waitsIn>): readonly string[] {
  const { retry, minMeanMs, maxMeanMs, minSpreadMs, maxLeastMs, minMostMs } = bounds;
  const drawn = waits.flatMap((wait) => (wait.retry === retry ? [wait.ms] : [])).sort((a, b) => a - b);
  // Without the shortest and the longest tenth: a busy machine makes some waits longer.
  const left = Math.floor(drawn.length / 10);
  const told = `waits before retry ${retry}`;
  return [
    ...outside(`${told}, on average`, Math.round(sumOf(drawn) / drawn.length), minMeanMs, maxMeanMs),
    ...outside(`${told}, four of five`, spreadOf(drawn.slice(left, drawn.length - left)), minSpreadMs),
    ...outside(`${told}, the shortest`, Math.min(...drawn), 0, maxLeastMs),
    ...outside(`${told}, the longest`, Math.max(...drawn), minMostMs),
  ];
}

const sumOf = (waits: readonly number[]): number => waits.reduce((sum, ms) => sum + ms, 0);
const spreadOf = (waits: readonly number[]): number => Math.max(...waits) - Math.min(...waits);
