import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A running mock of the contract. */
export interface Mock {
  readonly url: string;
  stop(): Promise<void>;
}

const prism = createRequire(import.meta.url).resolve("@stoplight/prism-cli/dist/index.js");
const contract = fileURLToPath(new URL("../../openapi.yaml", import.meta.url));

/** Serves openapi.yaml with Prism; resolves once Prism itself says that it listens. */
export async function startMock({ port }: { port?: number | undefined } = {}): Promise<Mock> {
  const chosen = port ?? (await freePort());
  const child = spawn(process.execPath, [prism, "mock", "-h", "127.0.0.1", "-p", String(chosen), contract], {
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
