type Numbers = readonly [major: number, minor: number, patch: number];

/** Whether a revision may break what was built on an older one: a new first number, or before 1.0.0 the second. */
export function mayBreak(before: string, after: string): boolean {
  const [old, now] = [numbersOf(before), numbersOf(after)];
  if (now[0] !== old[0]) return now[0] > old[0];
  return now[0] === 0 && now[1] > old[1];
}

/** Sorts revisions, the oldest first. */
export function compareRevisions(one: string, other: string): number {
  const [a, b] = [numbersOf(one), numbersOf(other)];
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

function numbersOf(revision: string): Numbers {
  const [, major, minor, patch] = /^(\d+)\.(\d+)\.(\d+)$/.exec(revision) ?? [];
  if (patch === undefined) throw new Error(`"${revision}" is no revision: write three numbers, as 0.2.0.`);
  return [Number(major), Number(minor), Number(patch)];
}
