// Serves the contract's examples with Prism.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

/** A running mock of the contract. */
export interface Mock {
  readonly url: string;
  stop(): Promise<void>;
}

const prism = createRequire(import.meta.url).resolve("@stoplight/prism-cli/dist/index.js");
const contract = fileURLToPath(new URL("../openapi.yaml", import.meta.url));

/** What a mock can be told. */
export interface MockOptions {
  /** @default a free one */
  readonly port?: number | undefined;
  /** @default openapi.yaml */
  readonly document?: string;
}

/** Serves the contract with Prism; resolves once Prism itself says that it listens. */
export async function startMock({ port, document = contract }: MockOptions = {}): Promise<Mock> {
  if (port !== undefined) return start(port, document);
  for (let tries = 1; ; tries++) {
    try {
      return await start(await freePort(), document);
    } catch (error) {
      // Somebody else took the free port before Prism could.
      if (tries === 3 || !String(error).includes("EADDRINUSE")) throw error;
    }
  }
}

async function start(chosen: number, document: string): Promise<Mock> {
  const child = spawn(process.execPath, [prism, "mock", "-h", "127.0.0.1", "-p", String(chosen), document], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit");
  // A mock must not outlive whoever started it.
  const kill = (): boolean => child.kill();
  process.once("exit", kill);
  const output: string[] = [];
  const listening = new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface(stream).on("line", (line) => {
        output.push(line);
        if (line.includes("is listening on")) resolve();
      });
    }
    exited.then(() => reject(new Error(`Prism did not start:\n${output.slice(-10).join("\n")}`)), reject);
  });
  await listening;
  return {
    url: `http://127.0.0.1:${chosen}`,
    async stop() {
      process.off("exit", kill);
      kill();
      await exited;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("No free port.");
  return address.port;
}

// As a command it serves them on port 4010, or --port N, until Ctrl-C.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { port: { type: "string", default: "4010" } } });
  const mock = await startMock({ port: Number(values.port) });
  console.log(`The mock responds with the contract's examples on ${mock.url}; Ctrl-C ends it.`);
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void mock.stop().then(() => process.exit(0)));
  }
}
