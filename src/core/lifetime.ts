import type { AbortSignalLike } from "./options.js";

/** Why a call ended before its answer. */
export type EndReason = "aborted" | "deadline";

/** One call's time: one timer and one listener on the caller's signal, both gone after `dispose`. */
export class Lifetime {
  ended: EndReason | undefined;
  #stop: (() => void) | undefined;
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #signal: AbortSignalLike | undefined;
  readonly #onAbort = (): void => this.#end("aborted");

  constructor(timeoutMs: number, signal: AbortSignalLike | undefined) {
    // Timers hold 32 bits; a longer deadline is as good as none.
    this.#timer = setTimeout(() => this.#end("deadline"), Math.min(timeoutMs, 2 ** 31 - 1));
    this.#signal = signal;
    if (signal?.aborted) this.ended = "aborted";
    else signal?.addEventListener("abort", this.#onAbort);
  }

  /** Waits for `promise`, or calls `cancel` and rejects with {@link Ended} when the call ends first. */
  during<T>(promise: Promise<T>, cancel?: () => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const stop = () => {
        reject(new Ended());
        cancel?.();
      };
      if (this.ended) {
        promise.catch(() => {});
        return stop();
      }
      this.#stop = stop;
      promise.then(resolve, reject);
    });
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#stop = undefined;
  }

  #end(reason: EndReason): void {
    this.ended ??= reason;
    this.#stop?.();
  }
}

/** Thrown inside a call when its lifetime ended; callers see the StatusError made of it. */
export class Ended extends Error {}
