// Services that say no, each as its rule for one request: for the server here and for the simulation alike.
import type { Asked, Later, No } from "./server.js";

/** A request as a rule sees it. */
export type Seen = Pick<Asked, "row" | "at" | "ms" | "active">;
/** Decides one request: rejected, a ranking of its own time, or a ranking (undefined). */
export type Rule = (asked: Seen) => No | Later | undefined;

/** A rule as one knows it who keeps exactly to it. */
export interface Known {
  /** How many requests may be in flight, so many milliseconds after the first. */
  atOnce?(ms: number, seed: number): number;
  /** What a bucket holds at first, and gains a second. */
  readonly perSecond?: number;
  /** What a row takes from the bucket; 1 if absent. */
  tokensOf?(row: number): number;
}

export const tooMany: No = { status: 429, code: "RESOURCE_EXHAUSTED" };

/** A bucket of one second's worth, full at the beginning. */
export class Bucket {
  readonly #rate: number;
  #left: number;
  #last: number | undefined;

  constructor(rate: number) {
    this.#rate = rate;
    this.#left = rate;
  }

  /** How long after `now` it holds so much. */
  waitMs(now: number, tokens: number): number {
    this.#left = Math.min(this.#rate, this.#left + ((now - (this.#last ?? now)) * this.#rate) / 1000);
    this.#last = now;
    return this.#left >= tokens ? 0 : ((tokens - this.#left) * 1000) / this.#rate;
  }

  take(tokens: number): void {
    this.#left -= tokens;
  }
}

/** Rejects beyond so many requests or tokens a second. */
export function perSecond(rate: number, no: No = tooMany, tokensOf: (row: number) => number = () => 1): Rule {
  const bucket = new Bucket(rate);
  return ({ at, row }) => {
    const tokens = tokensOf(row);
    if (bucket.waitMs(at, tokens) > 0) return no;
    bucket.take(tokens);
    return undefined;
  };
}

/** Rejects beyond so many at once, a number that may change in time. */
export function atOnce(most: number | ((ms: number) => number)): Rule {
  return ({ active, ms }) => (active > (typeof most === "number" ? most : most(ms)) ? tooMany : undefined);
}

/** Works on so many at once, each for so long; further requests wait for their turn. */
export function queue(servers: number, workMs: number): Rule {
  const freeAt = Array.from({ length: servers }, () => 0);
  return ({ ms }) => {
    const first = freeAt.indexOf(Math.min(...freeAt));
    freeAt[first] = Math.max(ms, freeAt[first] as number) + workMs;
    return { afterMs: (freeAt[first] as number) - ms };
  };
}

/** A number from 0 up to 1 that depends on a number and a seed alone (the end of MurmurHash3 mixes them). */
export function hashed(number: number, seed = 0): number {
  let mixed = Math.imul(number + 1, 0x9e3779b1) ^ Math.imul(seed + 1, 0x85ebca77);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
}

export interface Service {
  readonly name: string;
  /** How long a ranking takes, if its rule does not say otherwise. */
  readonly responseMs: number;
  /** How many rows can never be ranked. */
  readonly poison?: number;
  /** Whether the caller aborts the run at about a quarter. */
  readonly isCancelled?: true;
  /** Whether what it takes changes within a run. */
  readonly isChanging?: true;
  /** Makes the rule of one run. @param seed Makes its random numbers others */
  open(seed?: number): Rule;
  /** What one may send who knows the rule; absent where a rule limits nothing. */
  readonly known?: Known;
}

const between =
  (fromMs: number, untilMs: number, no: No): Rule =>
  ({ ms }) =>
    ms > fromMs && ms < untilMs ? no : undefined;

const never: Service["open"] = () => () => undefined;

const halved = (ms: number): number => (ms > 3_000 && ms < 8_000 ? 32 : 64);
// What a stranger leaves of 40.
const leftByStranger = (ms: number): number => (Math.floor(ms / 4_000) % 2 === 0 ? 30 : 10);
const wokenMs = 10_000;
const eachReplica = 4;
// 1, 2, 4 ... replicas, the first after ten seconds and the last after a minute.
const replicas = (ms: number): number => (ms < wokenMs ? 0 : 2 ** Math.min(5, Math.floor(ms / wokenMs) - 1));
// Half a second of each three, at a random time.
const inBurst = (ms: number, seed: number): boolean => {
  const from = 2_500 * hashed(Math.floor(ms / 3_000), seed);
  return ms % 3_000 >= from && ms % 3_000 < from + 500;
};
const tokensASecond = 60_000;
// From 50 to 5,000.
const tokensOf = (row: number): number => Math.round(50 * 100 ** hashed(row));

export const services: readonly Service[] = [
  {
    name: "20 a second, 429 without Retry-After",
    responseMs: 200,
    open: () => perSecond(20),
    known: { perSecond: 20 },
  },
  {
    name: "20 a second, 429 with Retry-After: 1",
    responseMs: 200,
    open: () => perSecond(20, { ...tooMany, retryAfter: 1 }),
    known: { perSecond: 20 },
  },
  { name: "10 at once", responseMs: 200, open: () => atOnce(10), known: { atOnce: () => 10 } },
  { name: "200 at once", responseMs: 200, open: () => atOnce(200), known: { atOnce: () => 200 } },
  {
    name: "30 % random 429",
    responseMs: 200,
    open(seed = 7) {
      // By the row and its attempt: how often a row is rejected does not depend on the order of the requests.
      const attempts = new Map<number, number>();
      return ({ row }) => {
        const attempt = attempts.get(row) ?? 0;
        attempts.set(row, attempt + 1);
        return hashed(row, seed + 1000 * attempt) < 0.3 ? tooMany : undefined;
      };
    },
  },
  {
    name: "one row of 1,000 that is always rejected",
    responseMs: 200,
    poison: 1,
    open:
      () =>
      ({ row }) =>
        row === 100 ? { status: 400, code: "INVALID_ARGUMENT" } : undefined,
  },
  {
    name: "an outage of 20 s",
    responseMs: 200,
    isChanging: true,
    open: () => between(1_000, 21_000, { status: 503, code: "UNAVAILABLE" }),
    known: { atOnce: (ms) => (ms > 1_000 && ms < 21_000 ? 0 : Number.POSITIVE_INFINITY) },
  },
  { name: "responses of 5 s", responseMs: 5_000, open: never },
  {
    name: "a key revoked for 5 s",
    responseMs: 200,
    isChanging: true,
    open: () => between(1_000, 6_000, { status: 401, code: "UNAUTHENTICATED" }),
    known: { atOnce: (ms) => (ms > 1_000 && ms < 6_000 ? 0 : Number.POSITIVE_INFINITY) },
  },
  // Slow, so that there is much under way, and left, when the caller's word arrives.
  { name: "the caller cancels", responseMs: 2_000, isCancelled: true, open: never },
  // Their limit or speed changes, by load, in time or by the request.
  { name: "a queue with one server", responseMs: 50, open: () => queue(1, 50), known: { atOnce: () => 2 } },
  {
    name: "a queue with 16 servers",
    responseMs: 200,
    open: () => queue(16, 200),
    known: { atOnce: () => 18 },
  },
  {
    name: "64 at once, half of it for 5 s",
    responseMs: 500,
    isChanging: true,
    open: () => atOnce(halved),
    known: { atOnce: halved },
  },
  {
    name: "40 at once, shared with a stranger",
    responseMs: 200,
    isChanging: true,
    open: () => atOnce(leftByStranger),
    known: { atOnce: leftByStranger },
  },
  {
    name: "woken from zero replicas",
    responseMs: 200,
    isChanging: true,
    open:
      () =>
      ({ active, ms }) => {
        if (active > eachReplica * Math.max(1, replicas(ms))) return tooMany;
        return ms < wokenMs ? { afterMs: wokenMs - ms + 200 } : undefined;
      },
    known: { atOnce: (ms) => eachReplica * Math.max(1, replicas(ms)) },
  },
  {
    name: "50 a second, 429 with Retry-After as a date",
    responseMs: 200,
    open: () => perSecond(50, { ...tooMany, retryAfter: 1, isDate: true }),
    known: { perSecond: 50 },
  },
  {
    name: "429s in bursts of 0.5 s",
    responseMs: 1_000,
    isChanging: true,
    open:
      (seed = 7) =>
      ({ ms }) =>
        inBurst(ms, seed) ? tooMany : undefined,
    known: { atOnce: (ms, seed) => (inBurst(ms, seed) ? 0 : Number.POSITIVE_INFINITY) },
  },
  {
    name: "3,600,000 tokens a minute, 50 to 5,000 a request",
    responseMs: 200,
    open: () => perSecond(tokensASecond, tooMany, tokensOf),
    known: { perSecond: tokensASecond, tokensOf },
  },
  {
    name: "one response of 66 takes 50 times as long",
    responseMs: 200,
    open:
      (seed = 7) =>
      ({ row }) => ({ afterMs: hashed(row, seed) < 0.015 ? 10_000 : 100 + 200 * hashed(row, seed + 1) }),
  },
];
