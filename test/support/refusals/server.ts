import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { setImmediate, setTimeout } from "node:timers/promises";
import { entriesFor } from "../responses.js";
import { endServer, listen, socketsOf } from "../servers.js";

/** A request as the service saw it. */
export interface Asked {
  readonly query: string;
  /** The ranking that is asked for: they are numbered from 0 as they first come. */
  readonly row: number;
  /** When it came, as `Date.now()` tells it. */
  readonly at: number;
  /** Milliseconds since the first request. */
  readonly ms: number;
  /** The requests under way, this one included. */
  readonly active: number;
  /** The status that it got; 0 while it waits, and when its sender was gone. */
  status: number;
}

/** What is sent instead of a ranking, at once. */
export interface No {
  readonly status: number;
  readonly code: string;
  /** The seconds of a Retry-After header. */
  readonly retryAfter?: number;
  /** Whether the header has the date instead. */
  readonly isDate?: true;
}

/** A ranking that takes longer or shorter than the others. */
export interface Later {
  readonly afterMs: number;
}

/** A service that says no to some requests, and keeps all of them. */
export interface RefusingService {
  readonly url: string;
  readonly requests: Asked[];
  says: (asked: Asked) => No | Later | undefined;
  /** Milliseconds before each ranking. */
  delayMs: number;
  reset(): void;
  close(): void;
}

/** Starts one on a free port. */
export async function startRefusing(): Promise<RefusingService> {
  const requests: Asked[] = [];
  const seen = new Map<string, number>();
  let active = 0;
  const server = createServer(async (request, response) => {
    active += 1;
    response.on("close", () => (active -= 1));
    const body = await text(request);
    const { query } = JSON.parse(body);
    const row = seen.get(body) ?? seen.size;
    seen.set(body, row);
    const at = Date.now();
    const asked: Asked = { query, row, at, ms: at - (requests[0]?.at ?? at), active, status: 0 };
    requests.push(asked);
    const said = service.says(asked);
    const no = said !== undefined && "status" in said ? said : undefined;
    if (said === undefined) await setTimeout(service.delayMs);
    else if ("afterMs" in said) await setTimeout(said.afterMs);
    // A timer comes before the end of a connection that this process was too busy to see.
    await setImmediate();
    if (response.destroyed || response.socket?.readableEnded) return;
    asked.status = no?.status ?? 200;
    response.writeHead(asked.status, headersOf(no)).end(bodyOf(no, body));
  });
  const sockets = socketsOf(server);
  const port = await listen(server);
  const service: RefusingService = {
    url: `http://127.0.0.1:${port}`,
    requests,
    says: () => undefined,
    delayMs: 20,
    reset() {
      requests.length = 0;
      seen.clear();
      Object.assign(service, { says: () => undefined, delayMs: 20 });
    },
    close: () => void endServer(server, sockets),
  };
  return service;
}

/** @param now When the response is sent: a date counts from it */
export function headersOf(no: No | undefined, now: number = Date.now()): Record<string, string> {
  const { retryAfter: seconds, isDate } = no ?? {};
  const retryAfter = seconds !== undefined && {
    "retry-after": isDate ? new Date(now + seconds * 1000).toUTCString() : String(seconds),
  };
  return { "content-type": "application/json", ...retryAfter };
}

function bodyOf(no: No | undefined, asked: string): string {
  if (no) return JSON.stringify({ code: no.code, message: "No." });
  const usage = { prompt_tokens: 10, total_tokens: 10 };
  return JSON.stringify({ object: "list", model: "m", data: entriesFor(asked), usage });
}
