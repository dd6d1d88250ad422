import type { Arbitrary, Parameters } from "fast-check";
import fc from "fast-check";
import { type Client, type ClientOptions, createClient } from "../../../../src/index.js";
import { canaryKey } from "../../../support/canary.js";

/** The seed of every property of this file: TUNERANK_SEED, or a new one; printed, so that a failure can be repeated. */
export const seed: number = Number(process.env.TUNERANK_SEED ?? Math.trunc(Math.random() * 2 ** 31));

const multiplier = Number(process.env.TUNERANK_RUNS ?? 1);

// Stacks of errors by the thousand, mapped to their sources, would take most of the time.
Error.stackTraceLimit = 2;

console.log(`TUNERANK_SEED=${seed} TUNERANK_RUNS=${multiplier}`);

/** How often a property runs: `count` by default, more or less with TUNERANK_RUNS. */
export function runs(count: number): number {
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

/** The body of a `fetch` function's response, without the cost of a real stream. */
export function inOneRead(text: string): object {
  const value = new TextEncoder().encode(text);
  return {
    getReader() {
      let done = false;
      return {
        async read() {
          if (done) return { done };
          done = true;
          return { done: false, value };
        },
        async cancel() {},
      };
    },
  };
}
