// Uploads to servers that respond before they have read all, and close: run in this process, and by other Nodes.
import http from "node:http";
import https from "node:https";
import { createClient, isStatusError } from "../../src/index.js";
import { ThreadServer } from "./threadServer.js";

const respond = (status: number, close: boolean): string =>
  `response.writeHead(${status}, { "content-type": "application/json"${close ? ', connection: "close"' : ""} })`;
const id = `'{"id":"file-1"}'`;
const close = "() => request.socket.destroy()";

/** What the server does with each request. */
export const manners: Readonly<Record<string, string>> = {
  "2xx, and closes when asked to": `${respond(200, true)}.end(${id})`,
  "2xx, and closes gently": `${respond(200, false)}.end(${id}, () => request.socket.destroySoon())`,
  "2xx, and closes": `${respond(200, false)}.end(${id}, ${close})`,
  "2xx, and closes a little later": `${respond(200, false)}.end(${id}, () => setTimeout(${close}, 5))`,
  "2xx after some, and closes": `request.once("data", () => { request.pause(); ${respond(200, false)}.end(${id}, ${close}); })`,
  "4xx, and closes": `${respond(413, false)}.end("{}", ${close})`,
  "5xx after some, and closes": `request.once("data", () => { request.pause(); ${respond(503, false)}.end("{}", ${close}); })`,
  "nothing, and closes": `request.once("data", ${close})`,
};

export interface EarlySetting {
  readonly secure: boolean;
  /** Whether over an agent of the caller's. */
  readonly own: boolean;
  readonly keepAlive: boolean;
  readonly manner: string;
}

/** Uploads so often. @returns each outcome that is not as it should be */
export async function uploadEarly(
  { secure, own, keepAlive, manner }: EarlySetting,
  times: number,
): Promise<string[]> {
  const server = await ThreadServer.start({ secure, onRequest: manners[manner] ?? "" });
  const agent = new (secure ? https : http).Agent({ keepAlive });
  const client = createClient({
    baseUrl: server.url,
    accountId: "acme",
    maxRetries: 0,
    ...(own ? { agent } : { keepAliveMs: keepAlive ? 4_000 : 0 }),
  });
  const outcomes: string[] = [];
  for (let i = 0; i < times; i++) {
    const file = new Uint8Array(i % 2 ? 4_000_000 : 1_000_000);
    outcomes.push(
      await client.datasets.upload("reviews", file, { name: "a" }).then(() => "stored", described),
    );
  }
  await client.close();
  agent.destroy();
  await server.close();
  return outcomes.filter((outcome) => !right(manner).includes(outcome));
}

function described(error: unknown): string {
  return isStatusError(error) ? `${error.code} ${error.executed} ${error.httpStatus}` : String(error);
}

// What the network's buffers took of a file counts as sent.
function right(manner: string): readonly string[] {
  if (manner.startsWith("2xx")) return ["INTERNAL yes 200", "stored"];
  if (manner.startsWith("4xx")) return ["INVALID_ARGUMENT no 413"];
  return manner.startsWith("5xx") ? ["UNAVAILABLE unknown 503"] : ["UNAVAILABLE unknown undefined"];
}
