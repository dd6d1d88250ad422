/** A score from 0 to 1 as a bar and a number. */
export function scoreBar(score: number): string {
  return `${"█".repeat(Math.round(score * 20)).padEnd(20, "░")} ${score.toFixed(3)}`;
}
