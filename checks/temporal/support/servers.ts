import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** Resolves once it holds; it is looked at every 20 ms. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address ? address.port : 0;
}

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

/** Starts one of the documented programs in a process of its own, as its user would. */
export function startProgram(
  file: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): ChildProcess & { readonly printed: () => string } {
  const program = fileURLToPath(new URL(`../documented/${file}`, import.meta.url));
  const tsx = import.meta.resolve("tsx");
  const child = spawn(process.execPath, ["--import", tsx, program], {
    cwd,
    env: { PATH: process.env.PATH, TUNERANK_API_KEY: "test-key", TUNERANK_ACCOUNT_ID: "acme", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (data) => {
      text += data;
    });
  return Object.assign(child, { printed: () => text });
}

/** Runs one to its end. @returns what it prints */
export async function runProgram(...given: Parameters<typeof startProgram>): Promise<string> {
  const child = startProgram(...given);
  await new Promise((resolve) => child.once("close", resolve));
  return child.printed();
}

const sources = fileURLToPath(new URL("../server", import.meta.url));
const cache = fileURLToPath(new URL("../.cache", import.meta.url));

/** The built server, or why there is none. The first build takes 8 to 10 minutes of two cores; it is kept. */
export function buildServer(): { readonly binary: string } | { readonly missing: string } {
  const hash = createHash("sha256");
  for (const name of ["main.go", "go.mod", "go.sum"]) hash.update(readFileSync(path.join(sources, name)));
  const binary = path.join(cache, `temporal-server-${hash.digest("hex").slice(0, 16)}`);
  if (existsSync(binary)) return { binary };
  try {
    execFileSync("go", ["version"], { stdio: "ignore" });
  } catch {
    return { missing: "there is no Go to build a Temporal server with (go.dev/dl, 1.25 or newer)" };
  }
  console.log("Building a Temporal server, which takes some minutes the first time.");
  mkdirSync(cache, { recursive: true });
  const building = `${binary}.${process.pid}`;
  execFileSync("go", ["build", "-ldflags", "-s -w", "-o", building, "."], { cwd: sources, stdio: "inherit" });
  renameSync(building, binary);
  return { binary };
}

/** A server that runs. */
export interface TemporalServer {
  readonly address: string;
  readonly namespace: string;
  stop(): void;
}

/** Starts it; it ends with this program. */
export async function startServer(binary: string): Promise<TemporalServer> {
  const server = spawn(binary, { stdio: ["pipe", "pipe", "inherit"] });
  const [address = "", namespace = ""] = await new Promise<string[]>((resolve, reject) => {
    server.stdout.once("data", (line) => resolve(String(line).trim().split(" ")));
    server.once("exit", () => reject(new Error("The Temporal server ended.")));
  });
  return { address, namespace, stop: () => server.stdin.end() };
}

/** Starts one with its database in a file: killed, it goes on where it was. */
export async function startLastingServer(
  binary: string,
): Promise<TemporalServer & { killAndStart(): Promise<void> }> {
  const folder = mkdtempSync(path.join(tmpdir(), "tunerank-temporal-server-"));
  const port = await freePort();
  let server: ChildProcess;
  const start = async (): Promise<void> => {
    const stdio = ["pipe", "pipe", "inherit"] as const;
    server = spawn(binary, [path.join(folder, "temporal.db"), `${port}`], { stdio: [...stdio] });
    if (server.stdout) await once(server.stdout, "data");
  };
  const end = async (): Promise<void> => {
    server.kill("SIGKILL");
    await once(server, "exit");
  };
  await start();
  return {
    address: `127.0.0.1:${port}`,
    namespace: "default",
    async killAndStart() {
      await end();
      await start();
    },
    stop: () => void end().then(() => rmSync(folder, { recursive: true })),
  };
}
