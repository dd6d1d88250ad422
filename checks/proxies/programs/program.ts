import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout } from "node:timers/promises";

/** How one program is started, and told to read its configuration anew. */
export interface ProgramOptions {
  readonly name: string;
  readonly config: string;
  /** What else its folder holds. */
  readonly files?: Readonly<Record<string, string>>;
  /** @param file The configuration's path. */
  readonly args: (file: string) => readonly string[];
  readonly reloadSignal: NodeJS.Signals;
}

/** A program that runs with a configuration of its own, in a folder that goes with it. */
export class Program {
  readonly #options: ProgramOptions;
  readonly #port: number;
  readonly #folder: string = mkdtempSync(path.join(tmpdir(), "tunerank-proxy-"));
  #child: ChildProcess | undefined;

  /** @param port Where it listens. */
  constructor(options: ProgramOptions, port: number) {
    this.#options = options;
    this.#port = port;
  }

  /** Resolves once it takes connections. @throws {NotStarted} It ended, or takes none within 30 s. */
  async start(): Promise<this> {
    const { name, config, args, files = {} } = this.#options;
    const deadline = performance.now() + 30_000;
    const file = path.join(this.#folder, `${name}.conf`);
    // Some of these give up root, and write as another user.
    spawnSync("chmod", ["777", this.#folder]);
    writeFileSync(file, config.replaceAll("FOLDER", this.#folder));
    for (const [own, content] of Object.entries(files)) writeFileSync(path.join(this.#folder, own), content);
    const child = spawn(name, args(file), { env, stdio: ["ignore", "ignore", "pipe"] });
    this.#child = child;
    let said = "";
    child.stderr?.on("data", (text) => {
      said += text;
    });
    child.on("error", (error) => {
      said += error;
    });
    while (!hasEnded(child) && performance.now() < deadline) {
      if (await listens(this.#port)) return this;
      await setTimeout(20);
    }
    const how = hasEnded(child) ? `ended with ${child.exitCode ?? child.signalCode}` : "takes no connections";
    throw new NotStarted(`${name} ${how}:\n${said}${this.#lastLines()}`);
  }

  // What it wrote into its own folder, where squid says why it ends.
  #lastLines(): string {
    const logs = readdirSync(this.#folder).filter((file) => file.endsWith(".log"));
    const lines = logs.flatMap((log) => readFileSync(path.join(this.#folder, log), "utf8").split("\n"));
    return lines.slice(-25).join("\n");
  }

  /** Has it read its configuration anew, as an operator does who changed it. */
  reload(): void {
    this.#child?.kill(this.#options.reloadSignal);
  }

  /** Ends it as a failure does, at once, and starts it again. */
  async restart(): Promise<void> {
    await this.#end();
    await this.start();
  }

  /** Lets it take connections and do nothing else, or go on. */
  pause(paused: boolean): void {
    this.#child?.kill(paused ? "SIGSTOP" : "SIGCONT");
  }

  async stop(): Promise<void> {
    await this.#end();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child === undefined || hasEnded(child)) return;
    const ended = once(child, "exit");
    child.kill("SIGCONT");
    child.kill("SIGTERM");
    const patience = AbortSignal.timeout(10_000);
    patience.addEventListener("abort", () => child.kill("SIGKILL"));
    await ended;
  }
}

/** The program could not be started: nothing was learnt about the client. */
export class NotStarted extends Error {}

// One that a signal ended has no exit code, and one that could not be run has neither.
function hasEnded({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid === undefined || exitCode !== null || signalCode !== null;
}

// Where Debian has its servers, which is not in everybody's PATH.
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` };

/** The program's version; undefined when it is not on this machine. */
export function versionOf(name: string, args: readonly string[], pattern: RegExp): string | undefined {
  const { error, stdout, stderr } = spawnSync(name, args, { env, encoding: "utf8" });
  return error ? undefined : pattern.exec(`${stdout}${stderr}`)?.[1];
}

// Below the ports that systems give to outgoing connections: between two programs of a run nobody takes one.
let nextPort = 20_000 + ((process.pid * 131) % 10_000);

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = nextPort++;
    const server = createServer();
    try {
      await once(server.listen(port, "127.0.0.1"), "listening");
      await once(server.close(), "close");
      return port;
    } catch {
      // Somebody has it.
    }
  }
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
