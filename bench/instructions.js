// npm run bench -- instructions [ENTRY...]: CPU instructions of one small rerank, counted by valgrind, which a busy
// machine does not change. ENTRY is a built index.js, by default this package's.
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { text } from "node:stream/consumers";
import { childEnvironment, childScript } from "./runChild.js";
import { startServer } from "./startServer.js";

// Until the first number of calls the engine still compiles.
const [from, to] = [6_000, 18_000];
const entries = process.argv.slice(3).map((entry) => path.resolve(entry));

const server = await startServer();
try {
  const bare = await perCall("nodeHttp");
  console.log(`node:http, bare: ${bare} instructions a call`);
  for (const entry of entries.length > 0 ? entries : [path.resolve("dist/index.js")]) {
    for (const [client, name] of [
      ["tunerank", ""],
      ["tunerankDispatcher", " with a dispatcher"],
    ]) {
      const count = await perCall(client, entry);
      const share = (count / bare).toFixed(3);
      console.log(`${path.relative(".", entry)}${name}: ${count} instructions a call, ${share} of bare`);
    }
  }
} finally {
  await server.close();
}

async function perCall(client, entry) {
  const [few, many] = [await counted(client, from, entry), await counted(client, to, entry)];
  return Math.round((many - few) / (to - from));
}

async function counted(client, calls, entry) {
  const input = JSON.stringify({ client, calls, baseUrl: server.baseUrl, concurrency: 16 });
  const valgrind = [
    "--tool=cachegrind",
    "--cache-sim=no",
    "--cachegrind-out-file=/dev/null",
    "--smc-check=all-non-file",
  ];
  const node = [process.execPath, "--single-threaded", childScript("calls"), input];
  const child = spawn("valgrind", [...valgrind, ...node], {
    stdio: ["ignore", "inherit", "pipe"],
    env: childEnvironment(entry),
  });
  const [printed, [exitCode]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  const found = /I\s+refs:\s+([\d,]+)/.exec(printed)?.[1];
  if (exitCode !== 0 || found === undefined) throw new Error(`valgrind ended with ${exitCode}:\n${printed}`);
  return Number(found.replaceAll(",", ""));
}
