/**
 * How far the bar of each score goes, from 0 to 1. The range of scores is not documented, so the longest bar is the
 * best score there is, and the shortest ends at 0, or at the worst score where one is below 0.
 */
export function scoreShares(scores: readonly number[]): number[] {
  const best = scores.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const from = scores.reduce((a, b) => Math.min(a, b), 0);
  return scores.map((score) => (best > from ? (score - from) / (best - from) : 0));
}
