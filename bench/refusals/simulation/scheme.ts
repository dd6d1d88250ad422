import type { AttemptTimes } from "../../../src/policy/retry.js";
import type { LimitSearch } from "../../../src/policy/search.js";

/** What the engine asks of a scheme, and tells it. By itself it never changes its limit. */
export class Scheme implements Omit<LimitSearch, "learned"> {
  limit = 4;
  epoch = 0;
  sharesService = false;
  readonly most: number;

  constructor(most: number) {
    this.most = most;
  }

  cap(): void {}
  /** The earliest time for another attempt. */
  opensAt(_now: number, _inFlight: number): number {
    return 0;
  }
  ended(_inFlight: number): void {}
  responded(_times: AttemptTimes): void {}
  rateLimited(_times: AttemptTimes, _askedMs: number): void {}
  began(_inFlight: number): void {}

  protected set(limit: number): void {
    this.limit = Math.max(1, Math.min(this.most, Math.floor(limit)));
  }
}
