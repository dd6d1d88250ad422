// Runs the calls of one policy against a service that is down for a while, in virtual time.
import type { Policy, PolicyClient } from "./policies.js";

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
  const time = new VirtualTime();
  const perSecond: number[] = [];
  let callsInOutage = 0;
  let requestsInOutage = 0;
  let failedCalls = 0;
  const isDown = (): boolean => time.now >= downFromMs && time.now < downUntilMs;

  function send(client: PolicyClient, retries: number, endsAt: number): void {
    const second = Math.floor(time.now / 1000);
    perSecond[second] = (perSecond[second] ?? 0) + 1;
    const refused = isDown();
    if (refused) requestsInOutage += 1;
    time.in(answerMs, () => {
      if (!refused) return client.succeeded();
      const waitMs = client.waitAfter(retries, endsAt - time.now, random());
      if (waitMs === undefined) failedCalls += 1;
      else time.in(waitMs, () => send(client, retries + 1, endsAt));
    });
  }

  for (let call = 0; call < calls; call += 1) {
    const client = clients[call % clients.length] as PolicyClient;
    time.in((call * 1000) / callsPerSecond, () => {
      if (isDown()) callsInOutage += 1;
      send(client, 0, time.now + timeoutMs);
    });
  }
  time.run();
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

// A clock that jumps from one thing to do to the next, by whole milliseconds.
export class VirtualTime {
  now = 0;
  readonly #agenda: (() => void)[][] = [];

  in(ms: number, run: () => void): void {
    const at = this.now + Math.round(ms);
    const entry = this.#agenda[at];
    if (entry) entry.push(run);
    else this.#agenda[at] = [run];
  }

  /** Does everything in turn, until nothing is left to do. */
  run(): void {
    for (; this.now < this.#agenda.length; this.now += 1) {
      // What is added for this very millisecond is done too.
      for (const run of this.#agenda[this.now] ?? []) run();
    }
  }
}
