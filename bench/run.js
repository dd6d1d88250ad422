// npm run bench: measures the package beside its peers; `-- soak [MINUTES]` and `-- outage` run what is in those folders,
// `-- instructions [--bulk] [--case NAME]` counts CPU instructions.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const [first, ...args] = process.argv.slice(2);

if (["soak", "outage"].includes(first)) {
  const file = fileURLToPath(new URL(`${first}/run.ts`, import.meta.url));
  const fromSource = ["--conditions=tunerank-source", "--import", "tsx"];
  const { status } = spawnSync(process.execPath, [...fromSource, file, ...args], { stdio: "inherit" });
  process.exitCode = status ?? 1;
} else if (first === "instructions") {
  await import("./instructions.js");
} else {
  await import("./measure.js");
}
