import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach } from "vitest";
import { until } from "./turns.js";
// Loaded already: a clock that a test moves does not wait for a module to be loaded.
import "../../src/call/errorResponse.js";
import "../../src/wrappers/request.js";
import "../../src/ranking/rank.js";
import "../../src/wrappers/uploadFile.js";

// What sums of times with fractions may differ by, added in another order.
const roundingMs = 1e-6;

/**
 * Time that passes when a test says so, however busy the machine is. It stands in for `setTimeout`, `clearTimeout` and
 * `performance.now`; sockets, Node's own timers and `node:timers/promises` keep real time.
 */
export class TestClock {
  /** Milliseconds; a whole number, so that sums of them are exact. */
  now: number = Math.ceil(performance.now());
  readonly #timers: Set<TestTimer> = new Set();
  readonly #shortened: Map<number, number> = new Map();
  #restore: (() => void) | undefined;

  install(): void {
    if (this.#restore)
      throw new Error("The clock is installed: once more, and the real one could not come back.");
    const { setTimeout, clearTimeout } = globalThis;
    const own = Object.getOwnPropertyDescriptor(performance, "now");
    Object.assign(globalThis, {
      setTimeout: (run: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) =>
        isCalledByNode()
          ? setTimeout(run, ms, ...given)
          : new TestTimer(
              this,
              this.#timers,
              () => run(...given),
              this.#lengthOf(Math.max(0, Number(ms) || 0)),
            ),
      clearTimeout: (timer: unknown) => {
        if (timer instanceof TestTimer) this.#timers.delete(timer);
        else clearTimeout(timer as NodeJS.Timeout);
      },
    });
    Object.defineProperty(performance, "now", { configurable: true, writable: true, value: () => this.now });
    this.#restore = () => {
      Object.assign(globalThis, { setTimeout, clearTimeout });
      Reflect.deleteProperty(performance, "now");
      if (own) Object.defineProperty(performance, "now", own);
    };
  }

  remove(): void {
    this.#restore?.();
    this.#restore = undefined;
    // What outlives a call, as the sweeping of idle sockets does, goes on: others may meet the same port again.
    for (const timer of this.#timers) if (timer.outlives) setTimeout(timer.run, timer.ms).unref();
    this.#timers.clear();
    this.#shortened.clear();
  }

  /** The next timer of so many milliseconds fires after so few. */
  shortenNext(ms: number, toMs: number): void {
    this.#shortened.set(ms, toMs);
  }

  /** How many timers wait. */
  get waiting(): number {
    return this.#timers.size;
  }

  /** Lets time pass. What falls due on the way runs in its order, each at its own time. */
  pass(ms: number): void {
    const until = this.now + ms;
    for (let next = this.#next(); next && next.at <= until + roundingMs; next = this.#next()) this.#run(next);
    this.now = Math.max(this.now, until);
  }

  /** Whether something waits for exactly this long from now. */
  isAwaited(ms: number): boolean {
    return [...this.#timers].some(({ at }) => Math.abs(at - this.now - ms) < roundingMs);
  }

  /** Resolves once something waits for exactly this long from now. */
  async waitsFor(ms: number): Promise<void> {
    await until(() => this.isAwaited(ms), `something waits for ${ms} ms`);
  }

  /** Lets so much time pass once something waits for exactly that long. */
  async passWhenWaiting(ms: number): Promise<void> {
    await this.waitsFor(ms);
    this.pass(ms);
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, ms));
  }

  /** Lets time pass from timer to timer until the promise is settled: only for what waits for timers and nothing else. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const done = promise.finally(() => {
      settled = true;
    });
    done.catch(() => {});
    for (;;) {
      await turn();
      if (settled) return done;
      this.passToNext();
    }
  }

  /** Lets time pass until the next timer is due, and runs it. */
  passToNext(): void {
    const next = this.#next();
    if (!next) throw new Error("Nothing waits for time to pass.");
    this.#run(next);
  }

  #lengthOf(ms: number): number {
    const length = this.#shortened.get(ms) ?? ms;
    this.#shortened.delete(ms);
    return length;
  }

  #next(): TestTimer | undefined {
    let first: TestTimer | undefined;
    for (const timer of this.#timers) if (!first || timer.at < first.at) first = timer;
    return first;
  }

  #run(timer: TestTimer): void {
    this.#timers.delete(timer);
    this.now = Math.max(this.now, timer.at);
    timer.run();
  }
}

// Node's fetch ends its idle connections by the same global.
function isCalledByNode(): boolean {
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.stackTraceLimit = 3;
  Error.prepareStackTrace = (_error, sites) => sites[2]?.getFileName() ?? "";
  const caller = String(new Error().stack);
  Object.assign(Error, { prepareStackTrace, stackTraceLimit });
  return caller.startsWith("node:");
}

/** What setTimeout returns. */
class TestTimer {
  at = 0;
  /** Whether no process waits for it. */
  outlives = false;
  readonly run: () => void;
  readonly ms: number;
  readonly #clock: TestClock;
  readonly #among: Set<TestTimer>;

  constructor(clock: TestClock, among: Set<TestTimer>, run: () => void, ms: number) {
    this.#clock = clock;
    this.#among = among;
    this.ms = ms;
    this.run = run;
    this.refresh();
  }

  refresh(): this {
    this.at = this.#clock.now + this.ms;
    this.#among.add(this);
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    this.outlives = true;
    return this;
  }
}

/** A clock for the tests of the calling file, each of which moves it by itself. */
export function useTestClock(): TestClock {
  const clock = new TestClock();
  beforeEach(() => clock.install());
  afterEach(() => clock.remove());
  return clock;
}
