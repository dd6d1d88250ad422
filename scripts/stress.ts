// Runs `npm test`, or another SCRIPT, RUNS times (5) beside LOOPS busy loops (four to a core); fails when one run does.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";

const [, , ...given] = process.argv;
const [runs = 5, loops = 4 * availableParallelism()] = given.slice(0, 2).map(Number);
const [script = "test"] = given.slice(2);
if (!(Number.isInteger(runs) && runs > 0 && Number.isInteger(loops) && loops >= 0)) {
  throw new Error("Usage: npx tsx scripts/stress.ts RUNS LOOPS SCRIPT");
}

// A loop ends with this process, however that ends, and by itself after an hour.
const busy = `
  const end = Date.now() + 3_600_000;
  const parent = process.ppid;
  while (process.ppid === parent && Date.now() < end);
`;

const results: string[] = [];
for (let run = 1; run <= runs; run += 1) {
  const children = Array.from({ length: loops }, () => spawn(process.execPath, ["-e", busy]));
  const started = performance.now();
  const exitCode = await testOnce();
  const seconds = Math.round((performance.now() - started) / 1000);
  for (const child of children) await stop(child);
  results.push(`run ${run} of ${runs}, ${loops} busy loops: ${exitCode ? "FAILED" : "passed"}, ${seconds} s`);
  if (exitCode) process.exitCode = 1;
}
console.log(results.join("\n"));

async function testOnce(): Promise<number> {
  const child = spawn("npm", ["run", script], { stdio: "inherit", shell: process.platform === "win32" });
  const [exitCode] = (await once(child, "exit")) as [number | null];
  return exitCode ?? 1;
}

async function stop(child: ChildProcess): Promise<void> {
  const exited = child.exitCode === null && once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}
