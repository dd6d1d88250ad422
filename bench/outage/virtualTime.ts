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
