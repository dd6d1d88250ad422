// Services that say no, each as its rule for one request.
import { atOnce, hashed, type Known, perSecond, type Rule, tooMany } from "./rules.js";
import type { No } from "./server.js";

export interface Service {
  readonly name: string;
  /** The requests a second that it allows. */
  readonly perSecond?: number;
  /** How long a ranking takes, if its rule does not say otherwise. */
  readonly responseMs: number;
  /** When it works again, in milliseconds since the first request. */
  readonly mendedMs?: number;
  /** Rows that can never be ranked. */
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

export const services: readonly Service[] = [
  {
    name: "20 a second, 429 without Retry-After",
    perSecond: 20,
    responseMs: 200,
    open: () => perSecond(20),
    known: { perSecond: 20 },
  },
  {
    name: "20 a second, 429 with Retry-After: 1",
    perSecond: 20,
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
    mendedMs: 21_000,
    isChanging: true,
    open: () => between(1_000, 21_000, { status: 503, code: "UNAVAILABLE" }),
    known: { atOnce: (ms) => (ms > 1_000 && ms < 21_000 ? 0 : Number.POSITIVE_INFINITY) },
  },
  { name: "responses of 5 s", responseMs: 5_000, open: never },
  {
    name: "a key revoked for 5 s",
    responseMs: 200,
    mendedMs: 6_000,
    isChanging: true,
    open: () => between(1_000, 6_000, { status: 401, code: "UNAUTHENTICATED" }),
    known: { atOnce: (ms) => (ms > 1_000 && ms < 6_000 ? 0 : Number.POSITIVE_INFINITY) },
  },
  // Slow, so that there is much under way, and left, when the caller's word arrives.
  { name: "the caller cancels", responseMs: 2_000, isCancelled: true, open: never },
];
