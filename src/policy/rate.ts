/** The most that a run may send: the rate, which is spread evenly over each minute, and the most in all. */
export interface SendLimits {
  readonly rate?:
    | { readonly requestsPerMinute?: number | undefined; readonly tokensPerMinute?: number | undefined }
    | undefined;
  readonly maxRequests?: number | undefined;
  readonly maxTokens?: number | undefined;
}

const minuteMs = 60_000;
// An attempt may begin this many milliseconds early: timers fire late, and the rate would otherwise never be reached.
const spareMs = 20;
// The assumed bytes per token, until the first response reports its tokens.
const firstBytesPerToken = 4;

/** The estimated tokens of a request, by its bytes alone. */
export function estimatedTokens(bytes: number): number {
  return bytes / firstBytesPerToken;
}

// The estimate of bytes per token is smoothed: each response multiplies the weight of all earlier ones by this.
const remembered = 0.98;

/**
 * Spreads the attempts of a run evenly over time, by their number and by their tokens, and counts them; callers pass in
 * the time. The tokens of an attempt in flight are estimated from its bytes and the earlier responses; its own response
 * corrects the estimate.
 */
export class Pace {
  /** How many attempts have begun, retries included. */
  requests = 0;
  /** The tokens that responses report. */
  tokens = 0;
  readonly #requestMs: number;
  readonly #tokenMs: number;
  readonly #limits: SendLimits;
  // The tokens of all responses (estimated if a response reports none), and the estimate for the attempts in flight.
  #spent = 0;
  #inFlight = 0;
  #requestAt: number = Number.NEGATIVE_INFINITY;
  #tokenAt: number = Number.NEGATIVE_INFINITY;
  #tokens: number = remembered;
  #bytes: number = remembered * firstBytesPerToken;

  constructor(limits: SendLimits) {
    const { requestsPerMinute, tokensPerMinute } = limits.rate ?? {};
    this.#limits = limits;
    this.#requestMs = requestsPerMinute === undefined ? 0 : minuteMs / requestsPerMinute;
    this.#tokenMs = tokensPerMinute === undefined ? 0 : minuteMs / tokensPerMinute;
  }

  /** The earliest time for the next attempt; infinite if a limit is reached. */
  get opensAt(): number {
    if (this.limit !== undefined) return Number.POSITIVE_INFINITY;
    return Math.max(this.#requestAt, this.#tokenAt) - spareMs;
  }

  /** Whether tokens are limited, so that the bytes of a request matter. */
  get countsTokens(): boolean {
    return this.#tokenMs > 0 || this.#limits.maxTokens !== undefined;
  }

  /** The limit that is reached, counting the attempts in flight. It may open again when one of these ends. */
  get limit(): "maxRequests" | "maxTokens" | undefined {
    const { maxRequests, maxTokens } = this.#limits;
    if (maxRequests !== undefined && this.requests >= maxRequests) return "maxRequests";
    if (maxTokens !== undefined && this.#spent + this.#inFlight >= maxTokens) return "maxTokens";
    return undefined;
  }

  /** Whether some of the tokens that `maxTokens` limits are only estimated. */
  get isEstimated(): boolean {
    return this.#spent > this.tokens;
  }

  /** Records that an attempt begins. @returns its estimated tokens */
  began(now: number, bytes: number): number {
    const estimated = bytes > 0 ? (bytes * this.#tokens) / this.#bytes : 0;
    this.requests += 1;
    this.#inFlight += estimated;
    this.#requestAt = Math.max(now, this.#requestAt) + this.#requestMs;
    this.#tokenAt = Math.max(now, this.#tokenAt) + estimated * this.#tokenMs;
    return estimated;
  }

  /** Records that an attempt is over. */
  ended(estimated: number): void {
    this.#inFlight -= estimated;
  }

  /** Records that an attempt was not sent after all. */
  unsent(): void {
    this.requests -= 1;
  }

  /** Corrects an estimate by the number of tokens that the response reports, if it reports any. */
  counted(tokens: unknown, bytes: number, estimated: number): void {
    const isReported = typeof tokens === "number" && tokens >= 0 && tokens < Number.POSITIVE_INFINITY;
    this.#spent += isReported ? tokens : estimated;
    if (!isReported) return;
    this.tokens += tokens;
    this.#tokenAt += (tokens - estimated) * this.#tokenMs;
    this.#tokens = (this.#tokens + tokens) * remembered;
    this.#bytes = (this.#bytes + bytes) * remembered;
  }
}
