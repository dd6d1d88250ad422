// How long `tunerank bulk` takes to its first request: of a new run, and of one that has done all but the last of its lines.
// Fingerprints are made here too, so that a change of theirs would be seen: the command would refuse the run.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createWriteStream, readFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { median, withFolder } from "./tools.js";

const shipped = fileURLToPath(new URL("../dist/index.js", import.meta.url));
const sizes = { "100k": 100_000, "1M": 1_000_000 };
// Linux counts the time of a process in these.
const ticksPerSecond = 100;

export const bulkStart = {
  title: "Bulk from a file: from the start of the command to its first request",
  unit: "",
  measure,
};

async function measure({ quick, node = process.execPath, entry = shipped }) {
  const command = path.join(path.dirname(entry), "cli/main.js");
  const samples = {};
  for (const [size, lines] of Object.entries(sizes).slice(0, quick ? 1 : undefined))
    await withFolder(async (folder) => {
      const argsFor = await writeBulkFiles(folder, lines);
      for (const done of ["nothing", "all but the last"]) {
        const starts = [];
        for (let round = 0; round < 3; round++)
          starts.push(await firstRequest([command, ...argsFor(done)], node));
        for (const figure of ["s", "s of CPU"])
          samples[`${size} lines, ${done} done: ${figure}`] = [median(starts.map((start) => start[figure]))];
      }
    });
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

const documentsEach = 10;
const text = "How a key is reset when it was lost, and who may ask for a new one. ";

/** @returns the arguments of a run: one that is ended before its first response leaves the rows as they are */
async function writeBulkFiles(folder, lines) {
  const [input, rows, output] = ["in", "rows", "out"].map((name) => path.join(folder, `${name}.jsonl`));
  await write(input, lines, (number) => JSON.stringify(requestOf(number)));
  await write(rows, lines - 1, (number) => JSON.stringify(rowOf(requestOf(number))));
  const args = ["bulk", input, "--quiet", "--output"];
  let runs = 0;
  return (done) => [...args, done === "nothing" ? `${output}.${++runs}` : rows];
}

function requestOf(number) {
  const documents = Array.from({ length: documentsEach }, (_, index) => `${text}${number}.${index}`);
  return { id: `request-${number}`, query: `how do I reset key ${number}`, documents };
}

function rowOf({ id, query, documents }) {
  const sent = JSON.stringify({ query, documents, return_documents: false });
  const hash = createHash("sha256").update(`${JSON.stringify(id)}\n${sent}\n`);
  const data = documents.map((_, index) => ({ index, relevance_score: 1 / (index + 1) }));
  const fingerprint = hash.digest("base64url").slice(0, 22);
  return {
    id,
    fingerprint,
    response: { object: "list", model: "bench", data, usage: { total_tokens: 200 } },
  };
}

async function write(file, lines, lineOf) {
  const stream = createWriteStream(file);
  const perWrite = 1000;
  for (let first = 0; first < lines; first += perWrite) {
    const count = Math.min(perWrite, lines - first);
    const part = Array.from({ length: count }, (_, index) => `${lineOf(first + index)}\n`).join("");
    if (!stream.write(part)) await once(stream, "drain");
  }
  stream.end();
  await once(stream, "close");
}
