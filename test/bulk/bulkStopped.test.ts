import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { type RerankAllRequest, type RerankAllResult, rerankAll } from "../../src/bulk/index.js";
import { attemptPolicy, runBatches, stopSending } from "../../src/engine.js";
import { type AttemptEvent, isStatusError, type StatusError } from "../../src/index.js";
import { useNoBackoff } from "../support/backoff.js";
import { queryOf } from "../support/bulkFiles.js";
import { connect } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { type Reply, useRecordingServer } from "../support/recordingServer.js";
import { isPending, soon, turns, until } from "../support/turns.js";

const server = useRecordingServer();
const ranking = { object: "list", model: "m", data: [{ index: 0, relevance_score: 1 }] };
const good: Reply = { json: ranking };

function* endless(): Generator<RerankAllRequest> {
  for (let id = 0; ; id++) yield { id: `${id}`, query: `${id}`, documents: ["a"] };
}

/** Holds each response back until `release` is called with it. */
function holdAll(): { readonly held: ServerResponse[]; release(status?: number, body?: object): void } {
  const held: ServerResponse[] = [];
  server.reply((_request, response) => {
    held.push(response);
    return undefined;
  });
  return {
    held,
    release(status = 200, body = ranking) {
      for (const response of held.splice(0))
        response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    },
  };
}

async function collect(results: AsyncIterable<RerankAllResult>) {
  const all: RerankAllResult[] = [];
  try {
    for await (const result of results) all.push(result);
  } catch (error) {
    return { all, error: error as StatusError };
  }
  return { all, error: undefined };
}

describe("stopSending", () => {
  const clock = useTestClock();
  useNoBackoff();

  test("ends a run with CANCELLED after the results of the requests in flight, and sends nothing more", async () => {
    const { held, release } = holdAll();
    const results = rerankAll(connect(server.url), endless(), { concurrency: 3 });
    const run = collect(results);
    await until(() => held.length === 3);
    stopSending(results);
    await turns();
    expect(await isPending(run)).toBe(true);
    release();
    const { all, error } = await run;
    expect(all.map(({ id }) => id).sort()).toEqual(["0", "1", "2"]);
    expect(all.every(({ response }) => response)).toBe(true);
    expect(error).toMatchObject({ code: "CANCELLED", notDone: [], done: 3 });
    expect(server.requests).toHaveLength(3);
  });

  test("retries nothing: a request that fails for a moment has no result", async () => {
    const { held, release } = holdAll();
    const results = rerankAll(connect(server.url), endless(), { concurrency: 2 });
    const run = collect(results);
    await until(() => held.length === 2);
    stopSending(results);
    release(503, { code: "UNAVAILABLE" });
    const { all, error } = await run;
    expect(all).toEqual([]);
    expect(error).toMatchObject({ code: "CANCELLED", notDone: ["0", "1"] });
    expect(server.requests).toHaveLength(2);
  });

  test("waits for no pause that the service asked for", async () => {
    server.reply((request) =>
      queryOf(request) === "0" ? { status: 429, headers: { "retry-after": "30" } } : good,
    );
    const results = rerankAll(connect(server.url), endless(), { concurrency: 1 });
    const run = collect(results);
    await clock.waitsFor(30_000);
    stopSending(results);
    expect(await run).toMatchObject({ all: [], error: { code: "CANCELLED", notDone: ["0"] } });
    expect(server.requests).toHaveLength(1);
  });

  test("before the first `next` sends nothing; after the last request it changes nothing", async () => {
    server.reply(good);
    const early = rerankAll(connect(server.url), endless());
    stopSending(early);
    expect(await collect(early)).toMatchObject({ all: [], error: { code: "CANCELLED" } });
    expect(server.requests).toEqual([]);
    const late = rerankAll(connect(server.url), [{ id: "a", query: "0", documents: ["a"] }]);
    await late.next();
    stopSending(late);
    expect(await late.next()).toEqual({ done: true, value: undefined });
  });

  test("a key that is rejected meanwhile does not change why the run ended", async () => {
    const { held, release } = holdAll();
    const results = rerankAll(connect(server.url), endless(), { concurrency: 1 });
    const run = collect(results);
    await until(() => held.length === 1);
    stopSending(results);
    release(401, { code: "UNAUTHENTICATED" });
    expect(await run).toMatchObject({ all: [], error: { code: "CANCELLED", notDone: ["0"] } });
  });
});

describe("runBatches with `stop`", () => {
  useNoBackoff();

  test("begins nothing more, retries nothing, and lets what is in flight finish", async () => {
    const held: ServerResponse[] = [];
    const away: Reply = { status: 429, headers: { "retry-after": "20" } };
    server.reply((request, response) => {
      if (queryOf(request) === "0") return away;
      held.push(response);
      return undefined;
    });
    const client = connect(server.url);
    const stop = new AbortController();
    const results: unknown[] = [];
    const waits: unknown[] = [];
    const ended = runBatches({
      ...{ batches: 9, concurrency: 2, untilDeadline: false, signal: undefined, stop: stop.signal },
      ...{ timeoutMs: Number.POSITIVE_INFINITY, calls: [] },
      async run(batch, lane) {
        const onAttempt = ({ waitMs }: AttemptEvent) => waits.push(waitMs);
        const options = { timeoutMs: 60_000, maxRetries: 2, onAttempt, [attemptPolicy]: lane };
        const call = client.rerank({ query: `${batch}`, documents: ["a"] }, options);
        results[batch] = await call.catch((error: unknown) => error);
      },
    });
    await until(() => held.length === 1 && waits.length === 1);
    stop.abort();
    await until(() => results[0] !== undefined);
    expect(results[0]).toMatchObject({ code: "CANCELLED", attempts: [{ httpStatus: 429 }] });
    expect(await isPending(ended)).toBe(true);
    held[0]?.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(ranking));
    const failed = await soon(ended, "the end of the batches");
    expect(isStatusError(failed?.error, "CANCELLED")).toBe(true);
    expect(results[1]).toEqual(ranking);
    expect(server.requests).toHaveLength(2);
  });
});
