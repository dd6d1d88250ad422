import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { freePort, until } from "./waiting.js";

/** Whether this machine has one. */
export function hasRedis(): boolean {
  try {
    execFileSync("redis-server", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Starts one that keeps nothing on the disk. */
export async function startRedis(): Promise<{ readonly port: number; readonly process: ChildProcess }> {
  const port = await freePort();
  const args = ["--port", `${port}`, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
  const server = spawn("redis-server", args, { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  server.stdout.on("data", (text) => {
    printed += text;
  });
  await until(() => printed.includes("Ready to accept connections"));
  return { port, process: server };
}
