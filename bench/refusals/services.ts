// Services that say no, each as its rule for one request.
import { seededRandom } from "../outage/random.js";
import type { Asked, No } from "./server.js";

export interface Service {
  readonly name: string;
  /** The requests a second that it allows. */
  readonly perSecond?: number;
  readonly answerMs: number;
  /** When it works again, in milliseconds since the first request. */
  readonly mendedMs?: number;
  /** Rows that can never be ranked. */
  readonly poison?: number;
  /** Whether the caller aborts the run at about a quarter. */
  readonly isCancelled?: true;
  /** Makes the rule of one run. */
  open(): Rule;
}

type Rule = (asked: Asked) => No | undefined;

const tooMany: No = { status: 429, code: "RESOURCE_EXHAUSTED" };

/** Refuses beyond so many requests a second: a bucket of one second's worth, full at the beginning. */
export function perSecond(rate: number, no: No = tooMany): Rule {
  let tokens = rate;
  let last: number | undefined;
  return ({ at }) => {
    tokens = Math.min(rate, tokens + ((at - (last ?? at)) * rate) / 1000);
    last = at;
    if (tokens < 1) return no;
    tokens -= 1;
    return undefined;
  };
}

const atOnce =
  (most: number): Rule =>
  ({ active }) =>
    active > most ? tooMany : undefined;

const between =
  (fromMs: number, untilMs: number, no: No): Rule =>
  ({ ms }) =>
    ms > fromMs && ms < untilMs ? no : undefined;

const never: Service["open"] = () => () => undefined;

export const services: readonly Service[] = [
  { name: "20 a second, 429 without a time", perSecond: 20, answerMs: 200, open: () => perSecond(20) },
  {
    name: "20 a second, 429 with Retry-After: 1",
    perSecond: 20,
    answerMs: 200,
    open: () => perSecond(20, { ...tooMany, retryAfter: 1 }),
  },
  { name: "10 at once", answerMs: 200, open: () => atOnce(10) },
  { name: "200 at once", answerMs: 200, open: () => atOnce(200) },
  {
    name: "30 % random 429",
    answerMs: 200,
    open() {
      const next = seededRandom(7);
      return () => (next() < 0.3 ? tooMany : undefined);
    },
  },
  {
    name: "one row of 1,000 that is always refused",
    answerMs: 200,
    poison: 1,
    open:
      () =>
      ({ row }) =>
        row === 100 ? { status: 400, code: "INVALID_ARGUMENT" } : undefined,
  },
  {
    name: "an outage of 20 s",
    answerMs: 200,
    mendedMs: 21_000,
    open: () => between(1_000, 21_000, { status: 503, code: "UNAVAILABLE" }),
  },
  { name: "responses of 5 s", answerMs: 5_000, open: never },
  {
    name: "a key revoked for 5 s",
    answerMs: 200,
    mendedMs: 6_000,
    open: () => between(1_000, 6_000, { status: 401, code: "UNAUTHENTICATED" }),
  },
  // Slow, so that there is much under way, and left, when the caller's word arrives.
  { name: "the caller cancels", answerMs: 2_000, isCancelled: true, open: never },
];
