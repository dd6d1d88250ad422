const minuteMs = 60_000;
// Timers fire late: up to this much of the lost time may be made up for.
const spareMs = 20;
// The assumed bytes per token, until the first response reports its tokens.
const firstBytesPerToken = 4;
// The weight of all earlier responses when another one arrives.
const remembered = 0.98;

/**
 * Spreads attempts evenly over time, by their number and by their tokens; callers pass in the time. The tokens of an
 * attempt in flight are estimated from its bytes and the earlier responses; its own response corrects the estimate.
 */
export class Pace {
  readonly #requestMs: number;
  readonly #tokenMs: number;
  #requestAt = 0;
  #tokenAt = 0;
  #tokens = 1;
  #bytes: number = firstBytesPerToken;

  /** @param rate The rate that the caller declares: the most that may be sent in a minute */
  constructor(rate: { requestsPerMinute?: number | undefined; tokensPerMinute?: number | undefined }) {
    const { requestsPerMinute, tokensPerMinute } = rate;
    this.#requestMs = requestsPerMinute === undefined ? 0 : minuteMs / requestsPerMinute;
    this.#tokenMs = tokensPerMinute === undefined ? 0 : minuteMs / tokensPerMinute;
  }

  /** The earliest time for the next attempt. */
  get opensAt(): number {
    return Math.max(this.#requestAt, this.#tokenAt) - spareMs;
  }

  /** Whether a token rate is declared, so that the bytes of a request matter. */
  get countsTokens(): boolean {
    return this.#tokenMs > 0;
  }

  /** Records that an attempt begins. @returns its estimated tokens */
  began(now: number, bytes: number): number {
    const estimated = (bytes * this.#tokens) / this.#bytes;
    this.#requestAt = Math.max(now, this.#requestAt) + this.#requestMs;
    this.#tokenAt = Math.max(now, this.#tokenAt) + estimated * this.#tokenMs;
    return estimated;
  }

  /** Corrects an estimate by the number of tokens that the response reports, if it reports any. */
  counted(tokens: unknown, bytes: number, estimated: number): void {
    if (typeof tokens !== "number" || !(tokens >= 0)) return;
    this.#tokenAt += (tokens - estimated) * this.#tokenMs;
    this.#tokens = this.#tokens * remembered + tokens;
    this.#bytes = this.#bytes * remembered + bytes;
  }
}
