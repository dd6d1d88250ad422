// npx tsx scripts/release.ts: refuses a release whose contract or version is not the one that is announced, whose measured figures
// are older than src/call or src/transport, or whose slow checks are older than what they cover.
import { readFileSync } from "node:fs";
import { isOlder, readResults } from "../bench/results.js";
import { noRepository, staleChecks } from "./lastRuns.js";

const read = (file: string): string => readFileSync(new URL(`../${file}`, import.meta.url), "utf8");
const { version } = JSON.parse(read("package.json"));
const [, announced] = /^## (.+)/m.exec(read("CHANGELOG.md")) ?? [];
const wrong = [
  announced !== version && `CHANGELOG.md begins with ${announced}, package.json has ${version}.`,
  read("openapi.yaml") !== read("contract/baseline/openapi.yaml") &&
    "contract/baseline/openapi.yaml is not openapi.yaml: copy it, and run `npm run generate`.",
].filter(Boolean);
if (wrong.length > 0) {
  console.error(wrong.join("\n"));
  process.exitCode = 1;
}

const older = Object.values(readResults()).flatMap(({ node, scenarios }) => {
  const names = Object.keys(scenarios).filter((name) => isOlder(scenarios[name]));
  return names.length === 0 ? [] : [`- Node ${node}: ${names.join(", ")}`];
});

if (older.length > 0) {
  console.error(
    `bench/results.json, which README.md and the guides quote, has figures from before the last change of src/call or src/transport:
${older.join("\n")}
Measure them with each Node: \`npm run bench -- --older --node PATH\`. Then run \`npm run generate\` and commit.`,
  );
  process.exitCode = 1;
} else console.log("Every figure of bench/results.json was measured with this src/call and src/transport.");

const stale = staleChecks();
if (stale === undefined) console.log(noRepository);
else if (stale.length > 0) {
  console.error(
    `These checks are older than what they cover:\n${stale.map(({ why }) => `- ${why}`).join("\n")}`,
  );
  process.exitCode = 1;
} else console.log("Every slow check ran whole with what it covers.");
