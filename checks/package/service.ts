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

/** Starts a service that calls ours, and asks it by POST at this address: to rank, and without documents. */
export async function checkService(
  args: readonly string[],
  cwd: string,
  address: string,
  listening?: Listening,
): Promise<string> {
  const answering = await startAnswering();
  const env = { ...process.env, TUNERANK_BASE_URL: answering.url, TUNERANK_API_KEY: "key", PORT: "0" };
  const child = spawn(process.execPath, args, { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
  try {
    const url = `http://127.0.0.1:${await portOf(child, listening)}${address}`;
    const ranked = await post(url, { query: "q", documents: ["d"] });
    if (ranked.status !== 200 || JSON.parse(ranked.text).data?.[0]?.index !== 0) throw unexpected(ranked);
    const refused = await post(url, { query: "q" });
    if (refused.status !== 400 || refused.text !== '{"code":"INVALID_ARGUMENT"}') throw unexpected(refused);
    return `POST ${address} is answered, and a wrong request refused`;
  } finally {
    child.kill();
    answering.close();
  }
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function post(url: string, body: object): Promise<Answer> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, text: await response.text() };
}

function unexpected({ status, text }: Answer): Error {
  return new Error(`${status} ${text}`);
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
