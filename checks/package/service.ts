import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { startAnswering } from "./answering.js";

/** How a service tells that it listens: it prints its port, or this line when it was given one. */
interface Listening {
  readonly port: number;
  readonly line: string;
}

/** Starts a service that calls ours, and asks it to rank: at this address by POST. */
export async function checkService(
  args: readonly string[],
  cwd: string,
  address: string,
  listening?: Listening,
): Promise<string> {
  const answering = await startAnswering();
  const env = { ...process.env, TUNERANK_BASE_URL: answering.url, TUNERANK_API_KEY: "key" };
  const child = spawn(process.execPath, args, { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
  try {
    const response = await fetch(`http://127.0.0.1:${await portOf(child, listening)}${address}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query: "q", documents: ["d"] }),
    });
    const text = await response.text();
    if (!response.ok || JSON.parse(text).data?.[0]?.index !== 0)
      throw new Error(`${response.status} ${text}`);
    return `POST ${address} is answered`;
  } finally {
    child.kill();
    answering.close();
  }
}

async function portOf(child: ChildProcess, listening: Listening | undefined): Promise<number> {
  const ended = once(child, "exit").then((): never => {
    throw new Error("The service ended before it listened.");
  });
  return await Promise.race([printedPort(child.stdout as Readable, listening), ended]);
}

async function printedPort(output: Readable, listening: Listening | undefined): Promise<number> {
  for await (const line of createInterface(output)) {
    if (listening === undefined) return Number(line);
    if (line.includes(listening.line)) return listening.port;
  }
  throw new Error("The service said no more.");
}
