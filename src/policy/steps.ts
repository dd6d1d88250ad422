// How many responses the search waits for before the limit grows again. After a step that was rejected: `gapForEach`
// for each attempt that the next step adds to the limit, and `moreForEach` more each time that none larger was found.
// `gapAfterDrop`: after 429s that no step caused. `gapAtFirst`: after the first 429s of a run. `gapAfterSlow`: after a
// step that only made responses slow; it doubles each time.
const gapForEach = 30;
const moreForEach = 3;
const mostForEach = 60;
const longestGap = 640;
const gapAfterDrop = 48;
const gapAtFirst = 16;
export const gapAfterSlow: number = 8;
const longestGapAfterSlow = 1024;
// A step is at first this share of the limit, and at most a quarter of it.
const smallStep = 1 / 8;
const largeStep = 1 / 4;

/** How far and how often the limit of a search grows. */
export class Steps {
  /** Whether the limit still doubles: no request was rejected so far. */
  isStart = true;
  /** Responses before the next step. */
  left = 0;
  #size = 0;
  #part = 0;
  // Whether the limit is being raised again after 429s that no step caused. The best limit is then unknown, so steps
  // are larger and faster than after a step that was rejected.
  #isAfterDrop = false;
  #isStep = false;
  // Whether the limit is what an earlier run found, and no 429 came since then.
  #isResumed = false;
  #drops = 0;
  // How often in a row the limit settled no higher than the time before, and where it settled last.
  #failedSteps = 0;
  #settled = 0;
  #nextGap: number = gapAfterSlow;

  begin(): void {
    this.#isAfterDrop = !this.#isStep;
    this.#isStep = true;
    this.#part = 0;
  }

  /**
   * The limit is what an earlier run found. The next step is small: if the service accepts this step, it accepts more
   * than in the earlier run, and the limit doubles again.
   */
  resume(limit: number): void {
    this.#isStep = true;
    this.#isResumed = true;
    this.#size = Math.max(1, Math.floor(limit * smallStep));
  }

  /** Records that the latest 429s have another reason than the last step. */
  dropped(): void {
    this.#isStep = false;
  }

  /** Counts a good response in a round at this limit. @returns whether the limit grows by one */
  grow(limit: number): boolean {
    this.#part += Math.min(1, this.#size / (this.#isAfterDrop ? limit : Math.max(16, limit)));
    if (this.#part < 1) return false;
    this.#part -= 1;
    return true;
  }

  /** Whether the limit grew by a whole step; the next one is twice as large. */
  isWhole(from: number, limit: number): boolean {
    if (limit < from + Math.min(from, this.#size)) return false;
    this.#size = Math.min(2 * this.#size, Math.max(1, limit * largeStep));
    this.isStart = this.#isResumed;
    return true;
  }

  /** How many responses the search waits for, once the limit is known, before the limit grows again. */
  gap(limit: number, sharesService: boolean): number {
    const small = Math.max(1, Math.floor(limit * smallStep));
    const isKnown = this.#isStep || sharesService;
    this.isStart = false;
    this.#isResumed = false;
    this.#drops += 1;
    this.#size = isKnown ? small : Math.max(1, limit >> Math.min(3, this.#drops));
    this.#failedSteps = isKnown && limit <= this.#settled ? this.#failedSteps + 1 : 0;
    this.#settled = limit;
    const each = Math.min(mostForEach, gapForEach + moreForEach * this.#failedSteps);
    if (isKnown) return Math.min(longestGap, each * small * (sharesService ? 2 : 1));
    return this.#drops === 1 ? Math.min(gapAtFirst, 4 * limit) : gapAfterDrop;
  }

  gapAfterSlow(): number {
    const gap = this.#nextGap;
    this.#nextGap = Math.min(longestGapAfterSlow, 2 * gap);
    return gap;
  }
}
