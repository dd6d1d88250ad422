import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
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

  /** Resolves once it takes connections. */
  async start(): Promise<this> {
    const { name, config, args, files = {} } = this.#options;
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
    while (!(await listens(this.#port))) {
      if (child.exitCode !== null) throw new Error(`${name} does not start:\n${said}`);
      await setTimeout(20);
    }
    return this;
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
    if (child === undefined || child.exitCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGCONT");
    child.kill("SIGTERM");
    await ended;
  }
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
