// What measurements need: a server and children in processes of their own, the memory of a process, curl, a file.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import http from "node:http";
import https from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { peakBytes } from "./peakBytes.js";

/** Takes turns: every round runs each contestant once, each round beginning with another one. */
export async function alternate(rounds, contestants, run) {
  const samples = Object.fromEntries(contestants.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < contestants.length; turn++) {
      const name = contestants[(round + turn) % contestants.length];
      samples[name].push(await run(name));
    }
    process.stderr.write(".");
  }
  return samples;
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Calls `use` with the path of a folder, then removes the folder. */
export async function withFolder(use) {
  const folder = mkdtempSync(path.join(tmpdir(), "tunerank-bench-"));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Calls `use` with the path and the size of a file of 150,000,000 bytes of JSON Lines, then removes it. */
export function withUploadFile(use) {
  const bytes = 150_000_000;
  return withFolder(async (folder) => {
    const file = path.join(folder, "train.jsonl");
    const line = `${JSON.stringify({ prompt: "q".repeat(480), answer: "a".repeat(480) })}\n`;
    const block = Buffer.from(line.repeat(1000)).subarray(0, 1_000_000 - (1_000_000 % line.length));
    const handle = await open(file, "w");
    let left = bytes;
    for (; left > block.length; left -= block.length) await handle.write(block);
    await handle.write(block.subarray(0, left));
    await handle.close();
    return use({ path: file, bytes });
  });
}

/** Calls `use` with a server, which always runs with the Node of the bench, so that it is the same for all. */
export async function withServer(how, use) {
  const script = fileURLToPath(new URL("server.js", import.meta.url));
  const child = spawn(process.execPath, [script, JSON.stringify(how)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [port] = await once(child.stdout, "data");
  try {
    return await use(`http${how.tls ? "s" : ""}://127.0.0.1:${String(port).trim()}`);
  } finally {
    child.stdin.end();
    await once(child, "exit");
  }
}

/** Asks the server for its figures, or to hold or fail what comes next. */
export async function control(baseUrl, method, what) {
  const { request } = baseUrl.startsWith("https:") ? https : http;
  const asked = request(baseUrl + what, { method, agent: false, rejectUnauthorized: false }).end();
  const [response] = await once(asked, "response");
  return JSON.parse(await text(response));
}

/** The files of a new key and its certificate for 127.0.0.1. */
export function makeCertificate(folder) {
  const [key, cert] = [path.join(folder, "key.pem"), path.join(folder, "cert.pem")];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
  const options = { stdio: ["ignore", "ignore", "pipe"] };
  execFileSync("openssl", ["req", "-x509", ...curve, ...names, "-keyout", key, "-out", cert], options);
  return { key, cert };
}

export const childScript = fileURLToPath(new URL("child.js", import.meta.url));

export function childEnvironment(entry) {
  return entry === undefined ? process.env : { ...process.env, TUNERANK_BENCH_ENTRY: entry };
}

/** Runs one measurement in a process of its own, and returns the figures that it printed. */
export async function runChild(name, input, { node = process.execPath, entry, env = {}, flags = [] } = {}) {
  const child = spawn(node, [...flags, childScript, name, JSON.stringify(input)], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...childEnvironment(entry), ...env },
    timeout: 1_800_000,
  });
  const [printed, [exitCode]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  if (exitCode === 0) return JSON.parse(printed);
  throw new Error(`${name} ${JSON.stringify(input)} ended with ${exitCode}.`);
}

/** curl -F of one file: how long it says it took, and the most memory it held. */
export async function runCurl({ baseUrl, path: file }) {
  const url = `${baseUrl}/v1/accounts/bench/datasets/bench:upload`;
  const quiet = ["--silent", "--fail", "--output", "/dev/null", "--write-out", "%{time_total}"];
  const sent = ["--header", "authorization: Bearer bench-key", "--form", `file=@${file}`, url];
  const curl = spawn("curl", [...quiet, ...sent], { stdio: ["ignore", "pipe", "inherit"] });
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, peakBytes(curl.pid));
  }, 5);
  const [printed, [exitCode]] = await Promise.all([text(curl.stdout), once(curl, "exit")]);
  clearInterval(watch);
  if (exitCode !== 0) throw new Error(`curl ended with ${exitCode}.`);
  return { milliseconds: Number(printed) * 1000, peakBytes: peak };
}
