import { setImmediate as turn } from "node:timers/promises";
import { vi } from "vitest";

/** Time that passes only when nothing else is to be done: it stands in for setTimeout and performance.now. */
export class FakeClock {
  now = 0;
  #timers: Map<number, { at: number; run: () => void }> = new Map();
  #last = 0;

  install(): void {
    vi.stubGlobal("setTimeout", (run: () => void, ms = 0) => {
      this.#last += 1;
      this.#timers.set(this.#last, { at: this.now + ms, run });
      return this.#last;
    });
    vi.stubGlobal("clearTimeout", (id: number) => this.#timers.delete(id));
    vi.spyOn(performance, "now").mockImplementation(() => this.now);
  }

  /** How many timers wait. */
  get waiting(): number {
    return this.#timers.size;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, ms));
  }

  /** Lets time pass until the promise is settled. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const done = promise.finally(() => {
      settled = true;
    });
    done.catch(() => {});
    for (;;) {
      await turn();
      if (settled) return done;
      this.#next();
    }
  }

  #next(): void {
    let first: [id: number, timer: { at: number; run: () => void }] | undefined;
    for (const entry of this.#timers) if (!first || entry[1].at < first[1].at) first = entry;
    if (!first) throw new Error("A call waits for nothing.");
    this.#timers.delete(first[0]);
    this.now = Math.max(this.now, first[1].at);
    first[1].run();
  }
}
