// npm run bench -- instructions [--bulk] [ENTRY...]: CPU instructions of one small rerank, counted by valgrind, which a
// busy machine does not change. ENTRY is a built index.js, by default this package's. With --bulk: of a request of a run.
// With --case NAME: of a call of each contestant of that scenario, of scenarios/cases.js.
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { labels } from "./contestants.js";
import { childEnvironment, childScript } from "./runChild.js";
import { cases } from "./scenarios/cases.js";
import { startServer } from "./startServer.js";

// Until the first number of calls the engine still compiles.
const [from, to] = [6_000, 18_000];
const { values: options, positionals } = parseArgs({
  args: process.argv.slice(3),
  options: { bulk: { type: "boolean" }, case: { type: "string" } },
  allowPositionals: true,
});
const given = positionals.length > 0 ? positionals : ["dist/index.js"];
const entries = given.map((entry) => path.resolve(entry));

const setting = options.case === undefined ? {} : cases[options.case].setting;
const { rerankWith, body, failsWith, mayFailWith } = setting;
const kind = { body, failsWith, mayFailWith };
const server = await startServer({ rerankWith });
try {
  if (options.bulk) await countRuns();
  else if (options.case) await countCase();
  else await countCalls();
} finally {
  await server.close();
}

async function countCalls() {
  const bare = await perCall("nodeHttp");
  console.log(`node:http, bare: ${bare} instructions a call`);
  for (const entry of entries) {
    for (const [client, name] of [
      ["tunerank", ""],
      ["tunerankDispatcher", " with a dispatcher"],
    ]) {
      const count = await perCall(client, entry);
      const share = (count / bare).toFixed(3);
      console.log(`${path.relative(".", entry)}${name}: ${count} instructions a call, ${share} of bare`);
    }
  }
}

async function countCase() {
  for (const client of setting.clients)
    console.log(`${labels[client]}: ${await perCall(client, entries[0])} instructions a call`);
}

// The compiler's are counted too: what a run's end has it throw away costs the next run.
async function countRuns() {
  for (const entry of entries)
    for (const client of ["tunerank", "tunerankLoop", "tunerankDispatcher"]) {
      const count = (requests, before = []) => counted("bulk", { client, requests, before }, entry);
      const alone = await count(10_000);
      const second = Math.round(((await count(10_000, [10_000])) - alone) / 10_000);
      const later = Math.round(((await count(to)) - (await count(from))) / (to - from));
      const where = `${path.relative(".", entry)}, ${labels[client]}`;
      console.log(
        `${where}: ${second} instructions a request in a second run of 10,000, ${later} later in a run`,
      );
    }
}

async function perCall(client, entry) {
  const few = await counted("calls", { client, calls: from, ...kind }, entry);
  const many = await counted("calls", { client, calls: to, ...kind }, entry);
  return Math.round((many - few) / (to - from));
}

async function counted(child, what, entry) {
  const input = JSON.stringify({ ...what, baseUrl: server.baseUrl, concurrency: 16 });
  const valgrind = [
    "--tool=cachegrind",
    "--cache-sim=no",
    "--cachegrind-out-file=/dev/null",
    "--smc-check=all-non-file",
  ];
  const node = [process.execPath, "--single-threaded", childScript(child), input];
  const running = spawn("valgrind", [...valgrind, ...node], {
    stdio: ["ignore", "ignore", "pipe"],
    env: childEnvironment(entry),
  });
  const [printed, [exitCode]] = await Promise.all([text(running.stderr), once(running, "exit")]);
  const found = /I\s+refs:\s+([\d,]+)/.exec(printed)?.[1];
  if (exitCode !== 0 || found === undefined) throw new Error(`valgrind ended with ${exitCode}:\n${printed}`);
  return Number(found.replaceAll(",", ""));
}
