/** A request that a cell's server saw. */
export interface SeenRequest {
  readonly arrivedMs: number;
  /** When its answer or its connection ended; undefined while neither has. */
  endedMs: number | undefined;
  /** What is wrong with it. */
  readonly problems: readonly string[];
}

/** What a cell's server saw, in the order of its arrival. */
export type RequestLog = SeenRequest[];

/**
 * The waits before the further requests of each call, in whole milliseconds.
 * @param byCall The requests of each call, where there are several.
 */
export function waitsIn(log: RequestLog, byCall: readonly number[] | undefined): readonly number[] {
  const firsts = new Set<number>();
  let first = 0;
  for (const requests of byCall ?? []) {
    firsts.add(first);
    first += requests;
  }
  return log.flatMap(({ arrivedMs }, index) => {
    const before = log[index - 1];
    if (before === undefined || firsts.has(index)) return [];
    // Rounded up: two clocks may differ by a part of a millisecond.
    return Math.ceil(arrivedMs - (before.endedMs ?? before.arrivedMs));
  });
}
