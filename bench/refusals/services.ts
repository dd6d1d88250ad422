// Services that say no, each as its rule for one request.

/** What a service knows when a request arrives. */
export interface Arrival {
  /** Milliseconds since the first request. */
  readonly ms: number;
  /** The row that is ranked, from 0. */
  readonly row: number;
  /** The requests under way, this one included. */
  readonly active: number;
}

/** A refusal; a service that refuses nothing ranks. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly retryAfter?: number;
}

export interface Service {
  readonly name: string;
  /** The requests a second that it allows. */
  readonly perSecond?: number;
  readonly answerMs: number;
  /** When it works again, in milliseconds since the first request. */
  readonly mendedMs?: number;
  /** Rows that can never be ranked. */
  readonly poison?: number;
  /** Whether the caller aborts the run at a third. */
  readonly isCancelled?: true;
  /** Makes the rule of one run. */
  open(): (arrival: Arrival) => Refusal | undefined;
}

export const rows = 1000;
const tooMany = { status: 429, code: "RESOURCE_EXHAUSTED" } as const;

// A bucket of one second's worth, full at the beginning.
function bucket(perSecond: number, refusal: Refusal): Service["open"] {
  return () => {
    let tokens = perSecond;
    let at = 0;
    return ({ ms }) => {
      tokens = Math.min(perSecond, tokens + ((ms - at) * perSecond) / 1000);
      at = ms;
      if (tokens < 1) return refusal;
      tokens -= 1;
      return undefined;
    };
  };
}

const atOnce =
  (most: number): Service["open"] =>
  () =>
  ({ active }) =>
    active > most ? tooMany : undefined;

const never: Service["open"] = () => () => undefined;

// The same numbers in each run: mulberry32.
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const services: readonly Service[] = [
  { name: "20 a second, 429 without a time", perSecond: 20, answerMs: 200, open: bucket(20, tooMany) },
  {
    name: "20 a second, 429 with Retry-After: 1",
    perSecond: 20,
    answerMs: 200,
    open: bucket(20, { ...tooMany, retryAfter: 1 }),
  },
  { name: "10 at once", answerMs: 200, open: atOnce(10) },
  { name: "200 at once", answerMs: 200, open: atOnce(200) },
  {
    name: "30 % random 429",
    answerMs: 200,
    open() {
      const next = random(7);
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
        row === 500 ? { status: 400, code: "INVALID_ARGUMENT" } : undefined,
  },
  {
    name: "an outage of 20 s",
    answerMs: 200,
    mendedMs: 21_000,
    open:
      () =>
      ({ ms }) =>
        ms > 1_000 && ms < 21_000 ? { status: 503, code: "UNAVAILABLE" } : undefined,
  },
  { name: "answers of 5 s", answerMs: 5_000, open: never },
  {
    name: "a key revoked for 5 s",
    answerMs: 200,
    mendedMs: 6_000,
    open:
      () =>
      ({ ms }) =>
        ms > 1_000 && ms < 6_000 ? { status: 401, code: "UNAUTHENTICATED" } : undefined,
  },
  { name: "the caller cancels", answerMs: 200, isCancelled: true, open: never },
];
