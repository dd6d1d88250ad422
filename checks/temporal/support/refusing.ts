import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A request as the service saw it: its query, when it came, and what it was answered; 0 when its sender was gone. */
export interface Asked {
  readonly query: string;
  readonly at: number;
  status: number;
}

/** What is answered instead of a ranking. */
export interface No {
  readonly status: number;
  readonly code: string;
}

/** A service that says no to some requests, and keeps all of them. */
export interface RefusingService {
  readonly url: string;
  readonly requests: Asked[];
  says: (asked: Asked) => No | undefined;
  /** Milliseconds before each answer. */
  delayMs: number;
  reset(): void;
  close(): void;
}

export async function startRefusing(): Promise<RefusingService> {
  const requests: Asked[] = [];
  const server = createServer(async (request, response) => {
    const { query, documents } = JSON.parse(await text(request));
    const asked: Asked = { query, at: Date.now(), status: 0 };
    requests.push(asked);
    const no = service.says(asked);
    await new Promise((resolve) => setTimeout(resolve, service.delayMs));
    // A timer comes before the end of a connection that this process was too busy to see.
    await new Promise((resolve) => setImmediate(resolve));
    if (response.destroyed || response.socket?.readableEnded) return;
    asked.status = no?.status ?? 200;
    const data = documents.map((_: string, index: number) => ({ index, relevance_score: 1 / (index + 1) }));
    const usage = { prompt_tokens: 10, total_tokens: 10 };
    response.writeHead(asked.status, { "content-type": "application/json" });
    response.end(
      JSON.stringify(
        no
          ? { error: { code: asked.status, status: no.code, message: "No." } }
          : { object: "list", model: "m", data, usage },
      ),
    );
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  const service: RefusingService = {
    url: `http://127.0.0.1:${port}`,
    requests,
    says: () => undefined,
    delayMs: 20,
    reset() {
      requests.length = 0;
      Object.assign(service, { says: () => undefined, delayMs: 20 });
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return service;
}

/** Says RESOURCE_EXHAUSTED beyond so many requests a second: a token bucket of one second. */
export function perSecond(rate: number): (asked: Asked) => No | undefined {
  let [tokens, at] = [rate, Date.now()];
  return (asked) => {
    tokens = Math.min(rate, tokens + ((asked.at - at) / 1000) * rate);
    at = asked.at;
    if (tokens < 1) return { status: 429, code: "RESOURCE_EXHAUSTED" };
    tokens -= 1;
    return undefined;
  };
}
