// One conformance run: an HTTP server that hands out the rows (test cases) to a client and takes their outcomes.
import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { isForeignHost, isForeignOrigin } from "../values.js";
import type { Cell } from "./cell.js";
import { watchMachine } from "./machine.js";
import { BadOutcome } from "./outcome.js";
import { createSession, type RowResult, type Session, type Told } from "./session.js";

interface RunOptions {
  readonly cells: readonly Cell[];
  readonly port: number;
  /** The run ends early after this many milliseconds without a request of the client. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onListening: (url: string) => void;
  readonly onResult: (result: Told) => void;
  /** Called with a message for each invalid request of a client. */
  readonly onRefusal: (why: string) => void;
}

interface RunResult {
  readonly results: readonly RowResult[];
  /** Why the run ended before all rows were done; undefined if all were done. */
  readonly cut: string | undefined;
}

// How long the server stays up once all rows are done: each worker of a client still asks for a next row, which takes
// longer on a busy machine.
const lingerMs = 300;
const busyLingerMs = 3000;

/** Serves rows until the client has posted all their outcomes, sends nothing for `timeoutMs`, or `signal` aborts. */
export async function run(options: RunOptions): Promise<RunResult> {
  const { cells, port, timeoutMs, signal, onListening, onResult, onRefusal } = options;
  const clock = createClock(timeoutMs);
  const machine = watchMachine();
  const session = createSession(cells, machine, clock.heard);
  const heard = (): void => {
    if (session.over)
      clock.endIn(machine.busySince(performance.now() - busyLingerMs) ? busyLingerMs : lingerMs);
    else clock.heard();
  };
  const listener = { heard, ended: onResult, refused: onRefusal };
  const control = await listenForRows(port, session, listener).catch((error: unknown) => {
    clock.endIn(0);
    throw error;
  });
  const abort = (): void => clock.endIn(0);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  onListening(control.url);
  await clock.ended;
  signal.removeEventListener("abort", abort);
  const cut = session.over ? undefined : reasonOf(session.underWay, options);
  machine.stop();
  await session.close("no outcome was posted");
  await control.close();
  return { results: session.results, cut };
}

function reasonOf(underWay: readonly string[], { timeoutMs, signal }: RunOptions): string {
  if (signal.aborted) return "The run was ended before its end.";
  const silence = `No request from the client for ${timeoutMs / 1000} s, so the run ended`;
  return underWay.length === 0
    ? `${silence}.`
    : `${silence}; no outcome was posted of ${underWay.join(", ")}.`;
}

// Ends the run when no request has arrived for `timeoutMs`.
function createClock(timeoutMs: number) {
  let timer: NodeJS.Timeout;
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const endIn = (ms: number): void => {
    clearTimeout(timer);
    timer = setTimeout(end, ms);
  };
  timer = setTimeout(end, timeoutMs);
  return { ended, heard: () => endIn(timeoutMs), endIn };
}

interface Listener {
  /** Called after each request of the client. */
  heard(): void;
  /** Called with the result of each finished row. */
  ended(result: Told): void;
  /** Called with a message for each invalid request of a client. */
  refused(why: string): void;
}

const mostBytes = 8 * 1024 * 1024;

/** Listens on a port of 127.0.0.1. @param port 0 for any free port */
async function listenForRows(port: number, session: Session, listener: Listener) {
  const server = createServer((request, response) => {
    request.on("error", () => {});
    const foreign = foreignIn(request.headers);
    if (foreign !== undefined) {
      listener.refused(foreign);
      sendJson(response, 403, { error: foreign });
      return;
    }
    respond(request, session, listener)
      .catch((error: unknown) => failureOf(error, listener))
      .then(({ status, body }) => sendJson(response, status, body))
      .finally(() => listener.heard());
  });
  // Never close an idle connection: a client may work on a row for a long time, and then reuse the connection.
  server.keepAliveTimeout = 0;
  await once(server.listen(port, "127.0.0.1"), "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => close(server) };
}

// Returns why a request is rejected, undefined if it is not. A web page of another origin must not fetch a test case or
// post its outcome. A request for an image has no Origin header, so Sec-Fetch-Site is checked too.
function foreignIn({ host, origin, ...headers }: IncomingHttpHeaders): string | undefined {
  if (isForeignHost(host)) return "It came for another Host: only 127.0.0.1 and localhost are served.";
  const isPages = origin === undefined && /^(cross|same)-site$/.test(`${headers["sec-fetch-site"]}`);
  return isPages || isForeignOrigin(origin)
    ? "It came from a web page of another Origin, and was not read."
    : undefined;
}

async function respond(request: IncomingMessage, session: Session, listener: Listener) {
  const { method } = request;
  const path = request.url?.split("?")[0];
  if (path === "/next" && method === "GET") {
    return { status: 200, body: (await session.next()) ?? { done: true } };
  }
  if (path === "/outcome" && method === "POST") {
    const result = await session.take(await bodyText(request));
    listener.ended(result);
    const { differences, notes } = result;
    return { status: 200, body: { result: result.result, differences, notes } };
  }
  const known = path === "/next" ? "GET /next" : path === "/outcome" ? "POST /outcome" : undefined;
  throw Object.assign(
    new BadOutcome(`There is ${known ?? "GET /next and POST /outcome"}, not ${method} ${path}.`),
    { status: known ? 405 : 404 },
  );
}

async function bodyText(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request) {
    length += part.length;
    if (length > mostBytes) throw new BadOutcome(`An outcome has at most ${mostBytes} bytes.`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

function failureOf(error: unknown, listener: Listener) {
  const message = error instanceof Error ? error.message : "The runner failed.";
  listener.refused(message);
  if (!(error instanceof BadOutcome)) return { status: 500, body: { error: message } };
  return { status: (error as { status?: number }).status ?? 400, body: { error: message } };
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

async function close(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
}
