// npm run bench -- instructions [--bulk] [--case NAME] [--entry PATH]: CPU instructions of one small rerank, counted by
// valgrind, which a busy machine does not change. PATH is a built index.js, by default this package's. With --bulk: of a
// request of a run; with --case: of a call of each contestant of that scenario.
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { labels } from "./contestants.js";
import { scenarios } from "./scenarios.js";
import { childEnvironment, childScript, withServer } from "./tools.js";

// Until the first number of calls the engine still compiles.
const [from, to] = [6_000, 18_000];
const { values: options } = parseArgs({
  args: process.argv.slice(3),
  options: { bulk: { type: "boolean" }, case: { type: "string" }, entry: { type: "string" } },
});
const entry = path.resolve(options.entry ?? "dist/index.js");
const { rerankWith, body, failsWith, mayFailWith, clients } = scenarios[options.case]?.setting ?? {};
const kind = { body, failsWith, mayFailWith };

await withServer({ rerankWith }, async (baseUrl) => {
  const perCall = async (child, client) => {
    const count = (calls) => counted(child, { ...kind, client, calls, requests: calls, before: [], baseUrl });
    return Math.round(((await count(to)) - (await count(from))) / (to - from));
  };
  if (options.bulk)
    for (const client of ["tunerank", "tunerankLoop", "tunerankDispatcher"])
      console.log(`${labels[client]}: ${await perCall("bulk", client)} instructions a request of a run`);
  else
    for (const client of clients ?? ["nodeHttp", "tunerank", "tunerankDispatcher"])
      console.log(`${labels[client]}: ${await perCall("calls", client)} instructions a call`);
});

async function counted(child, input) {
  const cachegrind = ["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"];
  const node = [process.execPath, "--single-threaded", childScript, child, JSON.stringify(input)];
  const running = spawn("valgrind", [...cachegrind, "--smc-check=all-non-file", ...node], {
    stdio: ["ignore", "ignore", "pipe"],
    env: childEnvironment(entry),
  });
  const [printed, [exitCode]] = await Promise.all([text(running.stderr), once(running, "exit")]);
  const found = /I\s+refs:\s+([\d,]+)/.exec(printed)?.[1];
  if (exitCode !== 0 || found === undefined) throw new Error(`valgrind ended with ${exitCode}:\n${printed}`);
  return Number(found.replaceAll(",", ""));
}
