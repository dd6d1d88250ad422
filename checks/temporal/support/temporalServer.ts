import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { freePort } from "./waiting.js";

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
