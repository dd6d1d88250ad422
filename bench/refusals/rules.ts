// What services make of a request: rules for the server of the matrix and for the simulation alike.
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
