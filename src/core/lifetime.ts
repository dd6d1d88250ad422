import type { AbortSignalLike } from "./options.js";

/** Why a call ended before its answer. */
export type EndReason = "aborted" | "deadline";

/** One call's time: one timer and one listener on the caller's signal, both gone after `dispose`. */
export class Lifetime {
  /** Set once the call is over, whatever it is doing. */
  ended: EndReason | undefined;
  /** What to stop when that happens. */
  stop: (() => void) | undefined;
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #signal: AbortSignalLike | undefined;
  readonly #onAbort: (() => void) | undefined;

  constructor(timeoutMs: number, signal: AbortSignalLike | undefined) {
    // Timers hold 31 bits; a longer deadline is as good as none.
    this.#timer = setTimeout(() => this.#end("deadline"), Math.min(timeoutMs, 2 ** 31 - 1));
    if (signal === undefined) return;
    if (signal.aborted) {
      this.ended = "aborted";
      return;
    }
    this.#signal = signal;
    this.#onAbort = () => this.#end("aborted");
    signal.addEventListener("abort", this.#onAbort);
  }

  /** Waits for `promise`, or rejects with {@link Ended} as soon as the call is over. */
  during<T>(promise: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.stop = () => reject(new Ended());
      promise.then(resolve, reject);
      if (this.ended) this.stop();
    });
  }

  dispose(): void {
    clearTimeout(this.#timer);
    if (this.#onAbort) this.#signal?.removeEventListener("abort", this.#onAbort);
    this.stop = undefined;
  }

  #end(reason: EndReason): void {
    this.ended ??= reason;
    this.stop?.();
  }
}

/** Thrown inside a call when its lifetime ended; callers see the StatusError made of it. */
export class Ended extends Error {}
