const smallStep = 1 / 8;
// Answers between two steps that may bring refusals: twice as many after each that brought nothing.
const firstPause = 64;
const longestPause = 1024;

/** How far a limit steps up, and how often: it doubles until something is in its way. */
export class Steps {
  areWide = true;
  #pause = 0;
  #nextPause: number = firstPause;

  /** Whether there were answers enough since the last that brought nothing. */
  get isDue(): boolean {
    return this.#pause <= 0;
  }

  after(limit: number): number {
    return limit + (this.areWide ? limit : Math.max(1, Math.floor(limit * smallStep)));
  }

  passed(answers: number): void {
    this.#pause -= answers;
  }

  slowDown(limit: number): void {
    this.areWide = false;
    this.#pause = this.#nextPause;
    const longest = Math.min(longestPause, firstPause + 16 * limit);
    this.#nextPause = Math.min(longest, this.#nextPause * 2);
  }

  broughtMore(): void {
    this.#nextPause = firstPause;
  }
}
