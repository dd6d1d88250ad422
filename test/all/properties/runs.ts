import assert from "node:assert/strict";
import { inspect } from "node:util";
import fc, { type Arbitrary, type Parameters } from "fast-check";
import {
  type Client,
  type ClientOptions,
  createClient,
  isStatusError,
  type StatusError,
} from "../../../src/index.js";
import { canaryKey } from "../../support/canary.js";

/** The seed of every property of this file: TUNERANK_SEED, or a new one; printed, so that a failure can be repeated. */
const seed: number = Number(process.env.TUNERANK_SEED ?? Math.trunc(Math.random() * 2 ** 31));

const multiplier = Number(process.env.TUNERANK_RUNS ?? 1);

// Stacks of errors by the thousand, mapped to their sources, would take most of the time.
Error.stackTraceLimit = 2;

console.log(`TUNERANK_SEED=${seed} TUNERANK_RUNS=${multiplier}`);

/** How often a property runs: `count` by default, more or less with TUNERANK_RUNS. */
function runs(count: number): number {
  return Math.max(1, Math.round(count * multiplier));
}

/** Milliseconds a test may take. */
export function within(ms: number): number {
  return ms * Math.max(1, multiplier);
}

/** What `fc.assert` takes. */
export function times(count: number): Parameters<unknown> {
  return { seed, numRuns: runs(count) };
}

/**
 * Holds for `count` random values, many at once. Each lane is a run of fast-check of its own, with the next seed:
 * a failure is shrunk there, one value at a time.
 */
export async function holdsFor<T>(
  values: Arbitrary<T>,
  count: number,
  holds: (value: T, lane: number) => Promise<void>,
  lanes = 32,
): Promise<void> {
  const numRuns = Math.ceil(runs(count) / lanes);
  const running = Array.from({ length: lanes }, (_, lane) =>
    fc.assert(
      fc.asyncProperty(values, (value) => holds(value, lane)),
      { seed: seed + lane, numRuns },
    ),
  );
  await Promise.all(running);
}

/** A client with nothing around it, for calls by the thousand. Its errors are searched for the key all the same. */
export function plainClient(baseUrl: string, options: ClientOptions = {}): Client {
  return createClient({ baseUrl, apiKey: canaryKey, accountId: "acme", maxRetries: 0, ...options });
}

// What has changed a path, a header or a form in some client once.
const pieces: Arbitrary<string> = fc.constantFrom(
  ..."/ \\ ? # % : ; , & = + @ ! $ ' \" ( ) * | ^ ~ { } [ ] < >".split(" "),
  ..."a 0 - _ . .. ... %2e %2E%2e %2F %5c %00 %3A %0d%0a //".split(" "),
  ...":scale :resume :upload /v1/ accounts/acme/deployments/prod http://other.invalid $& {account_id}".split(
    " ",
  ),
  ..." |\t|\n|\r|\r\n|\0|\x7f|\x85|\u2028|\ufeff|\u200b|\u202e|\ud83d|\udd0e|🔎|é|e\u0301|\u3002".split("|"),
  "__proto__",
  "constructor",
);

const unit: Arbitrary<string> = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));
const ascii: Arbitrary<string> = fc.string({ unit: "binary-ascii" });

/** Strings of every kind: of code points, of lone surrogates, of pieces with a meaning, and now and then a very long one. */
export const anyString: Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.array(pieces, { maxLength: 5 }).map((parts) => parts.join("")) },
  {
    weight: 4,
    arbitrary: fc.array(fc.oneof(pieces, ascii), { maxLength: 4 }).map((parts) => parts.join("")),
  },
  { weight: 4, arbitrary: fc.string({ unit: "grapheme" }) },
  { weight: 2, arbitrary: fc.string({ unit: "binary" }) },
  { weight: 2, arbitrary: fc.string({ unit }) },
  { weight: 4, arbitrary: ascii },
);

/** One piece or two, again and again: what a pattern that backtracks would take long to read. */
export const longString: Arbitrary<string> = fc
  .tuple(anyString, fc.oneof(pieces, unit), fc.integer({ min: 200, max: 100_000 }), anyString)
  .map(([before, piece, length, after]) => before + piece.repeat(Math.ceil(length / piece.length)) + after);

/** {@link anyString}, and once in a hundred times a long one. */
export const hostileString: Arbitrary<string> = fc.oneof(
  { weight: 99, arbitrary: anyString },
  { weight: 1, arbitrary: longString },
);

/** Printable ASCII, spaces apart. */
export const visible: Arbitrary<string> = fc
  .integer({ min: 0x21, max: 0x7e })
  .map((code) => String.fromCharCode(code));

/** Far more than a case takes on a busy machine, far less than a pattern that backtracks. */
const quicklyMs = 10_000;

/** What came of a call: its value or its StatusError. Anything else that is thrown, or slowness, fails the test. */
export async function settled<T>(
  run: () => T,
): Promise<{ value: Awaited<T>; error?: never } | { error: StatusError; value?: never }> {
  const started = Date.now();
  try {
    return { value: await run() };
  } catch (error) {
    if (!isStatusError(error)) throw error;
    return { error };
  } finally {
    assert.ok(Date.now() - started < quicklyMs, "It took too long.");
  }
}

const everything = {
  depth: Number.POSITIVE_INFINITY,
  showHidden: true,
  maxStringLength: Number.POSITIVE_INFINITY,
  maxArrayLength: Number.POSITIVE_INFINITY,
} as const;

/** Fails when an error shows a secret in any of the ways in which it may come to be in a log. */
export function hides(error: StatusError, secret: string): void {
  const shown = [String(error), error.stack, JSON.stringify(error), inspect(error, everything)].join("\n");
  const written = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    inspect(secret, everything).slice(1, -1),
    Buffer.from(secret).toString("base64"),
  ];
  for (const form of written) assert.ok(!shown.includes(form), "The error shows the secret.");
}

/** The bytes of a text, for a response of the echo server. */
export function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

// 408 and 499: somebody stopped waiting, whatever the service did.
const mayHaveRun: ReadonlySet<number> = new Set([408, 499]);

/** Whether the table calls this status refused: the service then never does the work. */
export function isRefusal(status: number): boolean {
  return status === 501 || (status >= 400 && status < 500 && !mayHaveRun.has(status));
}
