/** Counts the attempts that began with one limit. */
export class Round {
  /** The limit at its beginning. */
  readonly limit: number;
  /** How long each good response took, in milliseconds. */
  readonly good: number[] = [];
  /** As `good`, less the time that each response may have waited for this program's event loop. */
  readonly least: number[] = [];
  rejected = 0;
  /** In how many bursts the rejections came: those within one response time count as one burst. */
  bursts = 0;
  #burstFrom = Number.NEGATIVE_INFINITY;
  /** How many attempts began. */
  begun = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Records that an attempt was rejected. */
  reject(now: number, responseMs: number): void {
    this.rejected += 1;
    if (now < this.#burstFrom + responseMs) return;
    this.#burstFrom = now;
    this.bursts += 1;
  }

  get ended(): number {
    return this.good.length + this.rejected;
  }

  /**
   * The share of the attempts that were rate limited. It counts all that began, not those that ended: a rejection may
   * come long before the good responses to attempts that began at the same time.
   */
  get share(): number {
    return this.rejected / Math.max(1, this.rejected, this.begun);
  }

  /** The median time of a good response: single slow responses do not change it. */
  get medianMs(): number {
    return median(this.good);
  }

  /** The median of the last third of `good`: the first attempts with a new limit may not have waited in a queue yet. */
  get lateMs(): number {
    return median(lastThird(this.good));
  }

  /** As `lateMs`, without the time that this program's event loop may have added. */
  get leastMs(): number {
    return median(lastThird(this.least));
  }

  /**
   * The log likelihood ratio of two reasons for 429s. Above 0: their share is the base's, whatever the limit. Below 0:
   * the service accepted no more than at the base.
   */
  evidence(base: { readonly limit: number; readonly share: number }, limit: number): number {
    const same = possible(base.share);
    const full = possible(1 - ((1 - base.share) * base.limit) / limit);
    const accepted = Math.max(0, this.begun - this.rejected);
    return this.rejected * Math.log(same / full) + accepted * Math.log((1 - same) / (1 - full));
  }
}

function lastThird(values: readonly number[]): readonly number[] {
  return values.slice(-Math.ceil(values.length / 3));
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}

/** A smaller share of 429s costs less than a search for its reason. A test takes no share to be nearer to 0 or 1. */
export const leastShare = 0.03;

// Keeps a share away from 0 and 1, where the logarithms are infinite: by chance, a round may have only 429s, or none.
function possible(share: number): number {
  return Math.min(1 - leastShare, Math.max(leastShare, share));
}
