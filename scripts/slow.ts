// npx tsx scripts/slow.ts: prints the slow checks that are older than what they cover.
import { noRepository, staleChecks } from "./lastRuns.js";

const lines = staleChecks()?.map(({ why }) => why) ?? [noRepository];
console.log(lines.join("\n") || "Every slow check ran whole with what it covers.");
