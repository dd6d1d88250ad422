// Programs as their users start them, and what they print and send.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { TestService } from "../../src/testing/index.js";

/** What every program is run with. */
export interface Place {
  readonly service: TestService;
  readonly baseUrl: string;
  readonly tarball: string;
}

/** Runs a program. @returns what it did */
export type Program = (place: Place) => Promise<string>;

/** A file or folder below this one. */
export const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

/** A file of an installed package. */
export const tool = (file: string): string => here(`node_modules/${file}`);

export const node20: string = tool("node-20/bin/node");
export const node24: string = tool("node-24/bin/node");
export const bun: string = tool("@oven/bun-linux-x64/bin/bun");
export const deno: string = tool("@deno/linux-x64-glibc/deno");

/** The environment of every program. */
export const environment = (baseUrl: string): Record<string, string> => ({
  PATH: process.env.PATH ?? "",
  HOME: process.env.HOME ?? "",
  NO_COLOR: "1",
  TUNERANK_BASE_URL: baseUrl,
  TUNERANK_API_KEY: "test-key",
  TUNERANK_ACCOUNT_ID: "acme",
});

/** What a program prints. @throws with all of that when it fails */
export async function printedBy(
  [program = "", ...args]: readonly string[],
  cwd: string,
  env: Record<string, string>,
): Promise<string> {
  const running = promisify(execFile)(program, args, { cwd, env, timeout: 240_000, maxBuffer: 2 ** 26 });
  const { stdout } = await running.catch(({ stdout = "", stderr = "", message }) => {
    throw new Error(`${stdout}${stderr}`.trim() || message);
  });
  return stdout;
}

/** A service that runs. */
export interface Running {
  readonly url: string;
  /** What it printed since it listened. */
  readonly lines: string[];
}

/** Starts a service, which listens on the port given, or prints its own first; ends it after its use. */
export async function withService(
  [program = "", ...args]: readonly string[],
  { cwd, env, port }: { cwd: string; env: Record<string, string>; port?: number },
  use: (running: Running) => Promise<void>,
): Promise<void> {
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
  const hasEnded = once(child, "exit");
  try {
    await use(await listening(child, port));
  } finally {
    child.kill();
    await hasEnded;
  }
}

async function listening(child: ChildProcess, port?: number): Promise<Running> {
  const lines: string[] = [];
  const printed = new Promise<number>((resolve) => {
    createInterface(child.stdout as Readable).on("line", (line) => {
      lines.push(line);
      resolve(Number(line));
    });
  });
  const ended = once(child, "exit").then((): never => {
    throw new Error("The service ended before it listened.");
  });
  const own = await Promise.race([port === undefined ? printed : opened(port), ended]);
  return { url: `http://127.0.0.1:${own}`, lines };
}

// A framework prints this in its own words, or not at all.
async function opened(port: number): Promise<number> {
  for (let left = 400; left > 0; left--) {
    const socket = connect(port, "127.0.0.1");
    const isOpen = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return port;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Nothing listened on port ${port}.`);
}

/** Something that a program must have done. @throws with what it was instead */
export function equal(found: unknown, wanted: unknown): void {
  const [is, be] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (is !== be) throw new Error(`It was ${is}, not ${be}.`);
}

/** Waits for what comes without a signal of its own. */
export async function until(isSo: () => boolean): Promise<void> {
  for (let left = 400; !isSo(); left--) {
    if (left === 0) throw new Error(`It never came: ${isSo}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
