// The calls of a retry policy to a service that is down for a while, in virtual time. The decisions are those of src/policy.
import { budget as budgetRule } from "../../src/policy/decisions.js";
import { decideRetry } from "../../src/policy/retry.js";

/** What one client of a policy remembers. */
interface PolicyClient {
  succeeded(): void;
  /** How long to wait before the next request of a call, in milliseconds; undefined to give up. */
  waitAfter(retries: number, timeLeftMs: number, random: number): number | undefined;
}

interface Policy {
  readonly name: string;
  /** Among how many clients, each with a budget of its own, the calls are divided. */
  readonly clients: number;
  open(): PolicyClient;
}

const maxRetries = 2;

/** @param isSpent Whether retries use up the budget */
function ours(isSpent: boolean): PolicyClient {
  let budget = budgetRule.full;
  return {
    succeeded() {
      budget = Math.min(budgetRule.full, budget + 1);
    },
    waitAfter(retries, timeLeftMs, random) {
      const { waitMs } = decideRetry(
        { events: ["unavailable"], code: "UNAVAILABLE", retryAfterMs: undefined },
        {
          ...{ operation: "rerankDocuments", idempotent: undefined, replayable: true, freshKey: false },
          ...{ retries, maxRetries, timeLeftMs, budget, random },
        },
      );
      if (isSpent && waitMs !== undefined) budget -= budgetRule.retryCost;
      return waitMs;
    },
  };
}

// openai 6.49.0: two retries of each call, 0.5 s doubling up to 8 s, less a random part of up to a quarter.
const openai: PolicyClient = {
  succeeded() {},
  waitAfter: (retries, _timeLeftMs, random) =>
    retries >= maxRetries ? undefined : Math.min(500 * 2 ** retries, 8000) * (1 - random * 0.25),
};

export const policies: readonly Policy[] = [
  { name: "tunerank", clients: 1, open: () => ours(true) },
  { name: "tunerank, 100 clients", clients: 100, open: () => ours(true) },
  { name: "tunerank without its budget", clients: 1, open: () => ours(false) },
  { name: "openai", clients: 1, open: () => openai },
];

export interface Scenario {
  /** All calls, begun at equal distances from 0 on. */
  readonly calls: number;
  readonly callsPerSecond: number;
  /** The service responds with 503 UNAVAILABLE from here on ... */
  readonly downFromMs: number;
  /** ... until here. */
  readonly downUntilMs: number;
  /** From sending a request to its response. */
  readonly answerMs: number;
  readonly timeoutMs: number;
}

export interface Figures {
  readonly policy: string;
  readonly clients: number;
  /** Calls begun while the service was down. */
  readonly callsInOutage: number;
  /** Requests the service saw while it was down. */
  readonly requestsInOutage: number;
  /** Requests per call, of those in the outage. */
  readonly amplification: number;
  readonly mostRequestsPerSecond: number;
  /** Requests the service saw in all. */
  readonly requests: number;
  readonly failedCalls: number;
}

export function simulate(policy: Policy, scenario: Scenario, random: () => number): Figures {
  const { calls, callsPerSecond, downFromMs, downUntilMs, answerMs, timeoutMs } = scenario;
  const clients = Array.from({ length: policy.clients }, () => policy.open());
  // What happens in each millisecond.
  const agenda: (() => void)[][] = [];
  const perSecond: number[] = [];
  let now = 0;
  let callsInOutage = 0;
  let requestsInOutage = 0;
  let failedCalls = 0;
  const isDown = (): boolean => now >= downFromMs && now < downUntilMs;
  const after = (ms: number, run: () => void): void => {
    const at = now + Math.round(ms);
    agenda[at] = [...(agenda[at] ?? []), run];
  };

  function send(client: PolicyClient, retries: number, endsAt: number): void {
    const second = Math.floor(now / 1000);
    perSecond[second] = (perSecond[second] ?? 0) + 1;
    const isRejected = isDown();
    if (isRejected) requestsInOutage += 1;
    after(answerMs, () => {
      if (!isRejected) return client.succeeded();
      const waitMs = client.waitAfter(retries, endsAt - now, random());
      if (waitMs === undefined) failedCalls += 1;
      else after(waitMs, () => send(client, retries + 1, endsAt));
    });
  }

  for (let call = 0; call < calls; call += 1) {
    const client = clients[call % clients.length] as PolicyClient;
    after((call * 1000) / callsPerSecond, () => {
      if (isDown()) callsInOutage += 1;
      send(client, 0, now + timeoutMs);
    });
  }
  // What is added for this very millisecond is done too.
  for (; now < agenda.length; now += 1)
    for (let index = 0; index < (agenda[now]?.length ?? 0); index += 1) agenda[now]?.[index]?.();
  return {
    policy: policy.name,
    clients: policy.clients,
    callsInOutage,
    requestsInOutage,
    amplification: Number((requestsInOutage / callsInOutage).toFixed(3)),
    mostRequestsPerSecond: Math.max(...perSecond.map((count) => count ?? 0)),
    requests: perSecond.reduce((sum, count) => sum + (count ?? 0), 0),
    failedCalls,
  };
}

/** Numbers from 0 up to 1, the same ones for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
