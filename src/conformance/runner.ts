// One conformance run: an HTTP server that hands out the rows (test cases) to a client and takes their outcomes.
import { EventEmitter, once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { isForeignHost, isForeignOrigin } from "../values.js";
import type { Cell } from "./cell.js";
import { watchMachine } from "./machine.js";
import { BadOutcome } from "./outcome.js";
import type { ToldRun } from "./report.js";
import { Session, type Told } from "./session.js";

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

// How long the server stays up once all rows are done: each worker of a client still asks for a next row, which takes
// longer on a busy machine.
const lingerMs = 300;
const busyLingerMs = 3000;

/** Serves rows until the client has posted all their outcomes, sends nothing for `timeoutMs`, or `signal` aborts. */
export async function run(options: RunOptions): Promise<Pick<ToldRun, "results" | "cut">> {
  const { cells, port, timeoutMs, signal, onListening } = options;
  const ended = new EventEmitter();
  const end = (): void => void ended.emit("end");
  let timer: NodeJS.Timeout | undefined;
  const machine = watchMachine();
  // Each request of the client, to the runner or for a row, puts off the end of the run.
  const heard = (): void => {
    const isBusy = session.over && machine.busySince(performance.now() - busyLingerMs);
    clearTimeout(timer);
    timer = setTimeout(end, session.over ? (isBusy ? busyLingerMs : lingerMs) : timeoutMs);
  };
  const session = new Session({ cells, machine, onRequest: heard });
  const server = createServer(async (request, response) => {
    request.on("error", () => {});
    const [status, body] = await answer(request, session, options);
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (status !== 403) heard();
  });
  // Never close an idle connection: a client may work on a row for a long time, and then reuse the connection.
  server.keepAliveTimeout = 0;
  try {
    await once(server.listen(port, "127.0.0.1"), "listening");
    timer = setTimeout(end, timeoutMs);
    signal.addEventListener("abort", end, { once: true });
    onListening(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    if (!signal.aborted) await once(ended, "end");
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
    machine.stop();
  }
  const cut = session.over ? undefined : reasonOf(session.underWay, options);
  await session.close("no outcome was posted");
  server.close().closeAllConnections();
  await once(server, "close");
  return { results: session.results, cut };
}

function reasonOf(underWay: readonly string[], { timeoutMs, signal }: RunOptions): string {
  if (signal.aborted) return "The run was ended before its end.";
  const left = underWay.length === 0 ? "" : `; no outcome was posted of ${underWay.join(", ")}`;
  return `No request from the client for ${timeoutMs / 1000} s, so the run ended${left}.`;
}

type Answer = readonly [status: number, body: object];

// Returns the status and the JSON of the response to a request of the client.
async function answer(request: IncomingMessage, session: Session, options: RunOptions): Promise<Answer> {
  const refuse = (status: number, error: string): Answer => {
    options.onRefusal(error);
    return [status, { error }];
  };
  const { method, url = "", headers } = request;
  const foreign = foreignIn(headers);
  if (foreign !== undefined) return refuse(403, foreign);
  const [path] = url.split("?");
  const known = { "/next": "GET", "/outcome": "POST" }[`${path}`];
  if (method !== known) {
    const there = known ? `${known} ${path}` : "GET /next and POST /outcome";
    return refuse(known ? 405 : 404, `There is ${there}, not ${method} ${path}.`);
  }
  try {
    if (path === "/next") return [200, (await session.next()) ?? { done: true }];
    const told = await session.take(await bodyText(request));
    options.onResult(told);
    const { result, differences, notes } = told;
    return [200, { result, differences, notes }];
  } catch (error) {
    const message = error instanceof Error ? error.message : "The runner failed.";
    return refuse(error instanceof BadOutcome ? 400 : 500, message);
  }
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

const mostLength = 8 * 2 ** 20;

async function bodyText(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const part of request.setEncoding("utf8")) {
    text += part;
    if (text.length > mostLength) throw new BadOutcome(`An outcome has at most ${mostLength} characters.`);
  }
  return text;
}
