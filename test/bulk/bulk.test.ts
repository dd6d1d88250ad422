import { describe, expect, test } from "vitest";
import { type RerankAllOptions, type RerankAllRequest, rerankAll } from "../../src/bulk/index.js";
import type { Client } from "../../src/index.js";
import { queryOf, requestOf } from "../support/bulkFiles.js";
import { collect } from "../support/bulkRuns.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { type ReceivedRequest, type Reply, useRecordingServer } from "../support/recordingServer.js";
import { ranked } from "../support/responses.js";
import { isPending, until } from "../support/turns.js";

const server = useRecordingServer();
const responseTo = (request: ReceivedRequest): Reply =>
  ranked(request, { model: "m", usage: {}, query: queryOf(request) });

const requests = (count: number) =>
  Array.from({ length: count }, (_, index) => requestOf(index)) as RerankAllRequest[];

describe.each(transports)("rerankAll over $name", ({ options }) => {
  const client = (): Client => connect(server.url, options);

  test("hands out a result for each request, and sends no id", async () => {
    server.reply(responseTo);
    const results = await collect(rerankAll(client(), requests(20)));
    const ids = requests(20).map(({ id }) => id);
    expect(results.map(({ id }) => id).sort()).toEqual(ids.sort());
    for (const { id, response } of results) expect(response).toMatchObject({ query: id.replace("r", "q") });
    expect(server.requests).toHaveLength(20);
    expect(JSON.parse(`${server.requests[0]?.body}`)).toEqual({ query: "q0", documents: ["one", "two"] });
  });

  test("hands them out in order when asked to, whichever gets a response first", async () => {
    const waiting: (() => void)[] = [];
    server.reply((request, response) => {
      waiting.push(() => response.end(JSON.stringify(responseTo(request).json)));
      // Four at a time, the last first.
      if (waiting.length === 4) for (const respond of waiting.splice(0).reverse()) respond();
      return undefined;
    });
    const run = rerankAll(client(), requests(8), { concurrency: 4, ordered: true });
    expect((await collect(run)).map(({ id }) => id)).toEqual(requests(8).map(({ id }) => id));
  });

  test("a wrong request and a ranking that cannot be joined are results, and the others go on", async () => {
    const replies: Record<string, Reply> = {
      q0: { json: { data: [] } },
      q1: { status: 400, json: { code: "INVALID_ARGUMENT" } },
    };
    server.reply((request) => replies[queryOf(request)] ?? responseTo(request));
    const id = { of: "any type" };
    const wrong = [{ id, query: "q", documents: [] }, { query: "no id", documents: ["a"] }, null];
    const all = [...requests(3), ...wrong] as RerankAllRequest[];
    const results = await collect(rerankAll(client(), all, { ordered: true }));
    expect(results.map(({ id, error }) => [id, error?.code])).toEqual([
      ["r0", "INTERNAL"],
      ["r1", "INVALID_ARGUMENT"],
      ["r2", undefined],
      [id, "INVALID_ARGUMENT"],
      [undefined, "INVALID_ARGUMENT"],
      [undefined, "INVALID_ARGUMENT"],
    ]);
    expect(results[4]?.error?.message).toContain("requests[4] has no id");
    expect(server.requests).toHaveLength(3);
  });

  test.each([
    [401, "UNAUTHENTICATED"],
    [403, "PERMISSION_DENIED"],
  ])("%i ends the run at once, and says what is not done", async (status, code) => {
    server.reply((request) => (queryOf(request) === "q2" ? { status } : responseTo(request)));
    const results: unknown[] = [];
    const run = async (): Promise<void> => {
      for await (const { id } of rerankAll(client(), requests(100), { concurrency: 1 })) results.push(id);
    };
    const error = await failureOf(run);
    expect(results).toEqual(["r0", "r1"]);
    expect(error).toMatchObject({ code, done: 2, notDone: ["r2"], executed: "yes", httpStatus: status });
    expect(error.message).toContain("The run ended with 2 results and 1 request without a result.");
    expect(server.requests).toHaveLength(3);
  });
});

test("nothing is taken before a result is asked for, and no more than can be sent while nobody asks", async () => {
  server.reply(responseTo);
  let taken = 0;
  function* source(): Generator<RerankAllRequest> {
    for (const request of requests(1000)) {
      taken += 1;
      yield request;
    }
  }
  const run = rerankAll(connect(server.url), source(), { concurrency: 3 });
  await isPending(new Promise(() => {}));
  expect(taken).toBe(0);
  await run.next();
  await until(() => server.requests.length >= 6);
  await isPending(new Promise(() => {}));
  // Three finished that nobody asks for, and three more at most.
  expect(taken).toBeLessThanOrEqual(7);
  await run.return?.();
});

test("leaving the loop early aborts what is under way, and closes the source", async () => {
  server.reply((request, response) => {
    response.on("close", () => closed.push(queryOf(request)));
    return queryOf(request) === "q0" ? responseTo(request) : undefined;
  });
  const closed: string[] = [];
  let wasClosed = false;
  async function* source(): AsyncGenerator<RerankAllRequest> {
    try {
      yield* requests(100);
    } finally {
      wasClosed = true;
    }
  }
  for await (const { id } of rerankAll(connect(server.url), source(), { concurrency: 4 })) {
    expect(id).toBe("r0");
    await until(() => server.requests.length >= 4);
    break;
  }
  expect(wasClosed).toBe(true);
  await until(() => closed.length === server.requests.length);
});

test("an abort ends the run with what is not done", async () => {
  server.reply((request) => (queryOf(request) === "q0" ? responseTo(request) : undefined));
  const controller = new AbortController();
  const run = rerankAll(connect(server.url), requests(9), { concurrency: 2, signal: controller.signal });
  expect((await run.next()).value?.id).toBe("r0");
  await server.received(3);
  controller.abort("enough");
  const error = await failureOf(() => run.next());
  expect(error).toMatchObject({ code: "CANCELLED", cause: "enough", done: 1, notDone: ["r1", "r2"] });
  expect(await run.next()).toEqual({ done: true, value: undefined });
});

test.each([undefined, null, {}, { rerank: async () => ({}) }, new Proxy({}, { get: () => () => {} })])(
  "%s is no client that createClient made",
  (client) => {
    expect(() => rerankAll(client as never, requests(1))).toThrow(
      "[INVALID_ARGUMENT] client must be one that createClient made.",
    );
  },
);

test("a client that has no key ends the run, whatever is to be ranked", async () => {
  const client = connect("", { baseUrl: undefined });
  const error = await failureOf(() => collect(rerankAll(client, requests(9), { concurrency: 1 })));
  expect(error).toMatchObject({ code: "INVALID_ARGUMENT", done: 0, executed: "no" });
  expect(error.message).toContain("baseUrl is missing.");
});

test.each<[unknown, string]>([
  [{ concurrency: 0 }, "concurrency must be at least 1, not 0."],
  [
    { concurrency: "many" },
    'concurrency must be a whole number, "auto", or { max: 200 } for auto up to 200.',
  ],
  [{ concurrency: { max: 0 } }, "concurrency.max must be at least 1, not 0."],
  [{ concurrency: { most: 5 } }, "Unknown option concurrency.most"],
  [{ timeoutMs: 0 }, "timeoutMs must be greater than 0, not 0."],
  [{ totalTimeout: 5 }, "did you mean totalTimeoutMs?"],
  [{ maxRetries: 2 }, "Unknown option maxRetries"],
  [{ signal: {} }, "signal must be an AbortSignal."],
  [{ batchSize: 0 }, "batchSize"],
  [{ split: "x" }, "split"],
  ...["maxRequests", "maxTokens"].flatMap((name) =>
    [0, 1.5, Number.NaN, "9"].map((value): [unknown, string] => [{ [name]: value }, name]),
  ),
  [{ rate: { requestsPerMinute: 0 } }, "rate.requestsPerMinute must be greater than 0, not 0."],
  [
    { rate: { requestPerMinute: 5 } },
    "Unknown option rate.requestPerMinute: did you mean requestsPerMinute?",
  ],
  [{ rate: { tokensPerMinute: "many" } }, "rate.tokensPerMinute must be a number."],
  [{ rate: 600 }, "rate must be an object"],
  // Of several the first is named.
  [{ concurrency: 0, maxPauseMs: -1 }, "concurrency must be at least 1, not 0."],
  [{ maxPauseMs: -1, concurrency: 0 }, "maxPauseMs must be at least 0, not -1."],
  [{ maxPauseMs: Number.NEGATIVE_INFINITY }, "maxPauseMs must be at least 0, not -Infinity."],
  [{ maxPauseMs: Number.NaN }, "maxPauseMs must be a number of milliseconds, or Infinity."],
  [{ maxPauseMs: null }, "maxPauseMs must be a number of milliseconds, or Infinity."],
])("options %j are refused at once", (options, message) => {
  expect(() => rerankAll(connect(server.url), [], options as RerankAllOptions)).toThrow(message);
});

test("what is no iterable is refused at once", () => {
  expect(() => rerankAll(connect(server.url), {} as never)).toThrow("requests must be an iterable");
});
