// npm run test:docs: the built site in Chromium; without one it says so, and fails only where CI is set. Node takes the files by
// name: allPages, which takes longest, is among the first.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { chromiumProgram } from "../machine.js";

const folder = fileURLToPath(new URL(".", import.meta.url));

if (!existsSync(path.join(folder, "../../site/llms.txt"))) {
  console.error("site/ is missing: npm run docs writes it.");
  process.exit(1);
}
if (chromiumProgram === undefined || !existsSync(chromiumProgram)) {
  console.error(
    "\n*** SKIPPED: no Chromium here, so nothing of the site was tested. CHROMIUM may name one. ***\n",
  );
  process.exit(process.env.CI ? 1 : 0);
}
if (process.argv.includes("--judged")) process.env.JUDGED = "1";
const chosen = process.argv.slice(2).filter((each) => !each.startsWith("--"));
const names = chosen.length > 0 ? chosen : readdirSync(folder).filter((name) => name.endsWith(".test.js"));
const files = names.map((name) => path.join(folder, name));
const args = ["--import", "tsx", "--test", "--test-concurrency=2", "--test-reporter=spec", ...files];
process.exit(spawnSync(process.execPath, args, { stdio: "inherit" }).status ?? 1);
