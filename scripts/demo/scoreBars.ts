import { scoreShares } from "../../src/cli/scoreShares.js";

/** Each score as a bar and a number; the longest bar is the best score. */
export function scoreBars(scores: readonly number[]): string[] {
  return scoreShares(scores).map(
    (share, index) => `${"█".repeat(Math.round(share * 20)).padEnd(20, "░")} ${scores[index]?.toFixed(3)}`,
  );
}
