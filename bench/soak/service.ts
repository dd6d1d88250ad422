import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { LogEntry } from "./verify.js";

/** The service in a process of its own. */
export interface Service {
  readonly baseUrl: string;
  /** What it did since it was last asked. */
  takeLog(): Promise<readonly LogEntry[]>;
  close(): Promise<void>;
}

export async function startService(): Promise<Service> {
  const child = fork(fileURLToPath(new URL("server.ts", import.meta.url)));
  const [port] = await once(child, "message");
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    async takeLog() {
      const responded = once(child, "message");
      child.send("log");
      return (await responded)[0];
    },
    async close() {
      const exited = once(child, "exit");
      child.disconnect();
      await exited;
    },
  };
}
