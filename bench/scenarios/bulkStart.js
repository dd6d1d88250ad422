import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median } from "../alternate.js";
import { writeBulkFiles } from "../bulkFiles.js";

export const title = "Bulk from a file: from the start of the command to its first request";
export const unit = "";

const shipped = new URL("../../dist/index.js", import.meta.url);
const sizes = { "10k": 10_000, "100k": 100_000, "300k": 300_000, "1M": 1_000_000 };
// Linux counts the time of a process in these.
const ticksPerSecond = 100;

export async function measure({ quick, node = process.execPath, entry = shipped }) {
  const command = fileURLToPath(new URL("cli/main.js", new URL(entry, "file:")));
  const samples = {};
  for (const [size, lines] of Object.entries(sizes).slice(0, quick ? 2 : undefined)) {
    const folder = await mkdtemp(join(tmpdir(), "tunerank-bulk-"));
    try {
      const input = await writeBulkFiles(folder, lines);
      for (const done of ["nothing", "all but the last"]) {
        const starts = [];
        for (let round = 0; round < 3; round++)
          starts.push(await firstRequest([command, ...input.argsFor(done)], node));
        for (const figure of ["s", "s of CPU"])
          samples[`${size} lines, ${done} done: ${figure}`] = [median(starts.map((start) => start[figure]))];
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
  return samples;
}

/** Runs the command until its first request arrives, and ends it then. */
async function firstRequest(args, node) {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const env = {
    ...process.env,
    TUNERANK_BASE_URL: `http://127.0.0.1:${server.address().port}`,
    TUNERANK_API_KEY: "bench-key",
  };
  const started = performance.now();
  const child = spawn(node, args, { stdio: ["ignore", "ignore", "inherit"], env });
  const ended = once(child, "exit");
  try {
    const early = ended.then(([status]) => Promise.reject(new Error(`The command ended with ${status}.`)));
    await Promise.race([once(server, "request"), early]);
    const s = (performance.now() - started) / 1000;
    const cpu = cpuSeconds(child.pid);
    return { s, "s of CPU": cpu };
  } finally {
    child.kill("SIGKILL");
    await ended;
    server.closeAllConnections();
    server.close();
  }
}

// Behind the name, which may hold anything: the 14th and the 15th field, in user mode and in the kernel.
function cpuSeconds(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}
