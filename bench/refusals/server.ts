import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import type { Service } from "./services.js";

/** What a service counted. */
export interface Counted {
  readonly requests: number;
  readonly refused: number;
  /** Requests that came after the caller had cancelled. */
  readonly afterCancel: number;
  /** From the service's mending to the next request, in milliseconds. */
  readonly mendedToNextMs: number | undefined;
}

export interface RunningService {
  readonly url: string;
  /** The caller says that it has cancelled. */
  cancelled(): void;
  close(): Promise<Counted>;
}

/** Starts a service on a free port: it ranks one document, names the row in the model, and counts. */
export async function startService(service: Service): Promise<RunningService> {
  const rule = service.open();
  const counted = {
    requests: 0,
    refused: 0,
    afterCancel: 0,
    mendedToNextMs: undefined as number | undefined,
  };
  let firstAt: number | undefined;
  let active = 0;
  let isCancelled = false;
  const server = createServer(async (request, response) => {
    const now = performance.now();
    firstAt ??= now;
    const ms = now - firstAt;
    counted.requests += 1;
    if (isCancelled) counted.afterCancel += 1;
    const { mendedMs = Number.POSITIVE_INFINITY } = service;
    if (ms >= mendedMs) counted.mendedToNextMs ??= Math.round(ms - mendedMs);
    active += 1;
    response.on("close", () => (active -= 1));
    const row = Number(/row (\d+)/.exec(await text(request))?.[1]);
    const refusal = rule({ ms, row, active });
    if (refusal !== undefined) {
      counted.refused += 1;
      const { status, code, retryAfter } = refusal;
      response.writeHead(status, {
        "content-type": "application/json",
        ...(retryAfter !== undefined && { "retry-after": String(retryAfter) }),
      });
      response.end(JSON.stringify({ code, message: "No." }));
      return;
    }
    await setTimeout(service.answerMs);
    response.writeHead(200, { "content-type": "application/json" });
    const data = [{ index: 0, relevance_score: 0.5 }];
    response.end(
      JSON.stringify({
        object: "list",
        model: "reranker",
        data,
        usage: { prompt_tokens: 9, total_tokens: 9 },
      }),
    );
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cancelled() {
      isCancelled = true;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
      return counted;
    },
  };
}
