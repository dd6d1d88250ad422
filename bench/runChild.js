// Runs one measurement in a process of its own and hands back the JSON it printed.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

export function childScript(name) {
  return fileURLToPath(new URL(`children/${name}.js`, import.meta.url));
}

export function childEnvironment(entry) {
  return entry === undefined ? process.env : { ...process.env, TUNERANK_BENCH_ENTRY: entry };
}

export async function runChild(
  name,
  input,
  { node = process.execPath, entry, env = {}, flags = [], timeoutMs = 300_000 } = {},
) {
  const child = spawn(node, [...flags, childScript(name), JSON.stringify(input)], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...childEnvironment(entry), ...env },
    timeout: timeoutMs,
  });
  const [printed, [exitCode]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  if (exitCode === 0) return JSON.parse(printed);
  throw new Error(`${name} ${JSON.stringify(input)} ended with ${exitCode}.`);
}
