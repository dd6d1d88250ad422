/** The most that may be sent, smoothly: a declared rate. */
export interface Rate {
  readonly requestsPerMinute?: number | undefined;
  readonly tokensPerMinute?: number | undefined;
}

const minuteMs = 60_000;
// A timer fires late; so much of the time that was lost may be made up for.
const spareMs = 20;
// The bytes of a token until the first response says how many tokens there are.
const firstBytesPerToken = 4;
// The weight of what came before one response.
const remembered = 0.98;

/**
 * Spreads attempts evenly over time, by their number and by their tokens; the clock is passed in. The tokens of what is
 * in flight are estimated by its bytes, from the responses before; each response corrects its own estimate.
 */
export class Pace {
  readonly #requestMs: number;
  readonly #tokenMs: number;
  #requestAt = 0;
  #tokenAt = 0;
  #tokens = 1;
  #bytes: number = firstBytesPerToken;

  constructor({ requestsPerMinute, tokensPerMinute }: Rate) {
    this.#requestMs = requestsPerMinute === undefined ? 0 : minuteMs / requestsPerMinute;
    this.#tokenMs = tokensPerMinute === undefined ? 0 : minuteMs / tokensPerMinute;
  }

  /** Nothing is sent before. */
  get opensAt(): number {
    return Math.max(this.#requestAt, this.#tokenAt) - spareMs;
  }

  /** Whether the bytes of a request matter. */
  get countsTokens(): boolean {
    return this.#tokenMs > 0;
  }

  /** An attempt begins. @returns the tokens that it is taken to need */
  began(now: number, bytes: number): number {
    const estimated = (bytes * this.#tokens) / this.#bytes;
    this.#requestAt = Math.max(now, this.#requestAt) + this.#requestMs;
    this.#tokenAt = Math.max(now, this.#tokenAt) + estimated * this.#tokenMs;
    return estimated;
  }

  /** A response says how many tokens its request needed, if it does. */
  counted(tokens: unknown, bytes: number, estimated: number): void {
    if (typeof tokens !== "number" || !(tokens >= 0)) return;
    this.#tokenAt += (tokens - estimated) * this.#tokenMs;
    this.#tokens = this.#tokens * remembered + tokens;
    this.#bytes = this.#bytes * remembered + bytes;
  }
}
