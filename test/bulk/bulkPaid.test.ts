import { describe, expect, test } from "vitest";
import {
  type RerankAllOptions,
  type RerankAllRequest,
  type RerankAllResult,
  rerankAll,
} from "../../src/bulk/index.js";
import { events } from "../../src/policy/decisions.js";
import { useNoBackoff } from "../support/backoff.js";
import { queryOf, requestOf } from "../support/bulkFiles.js";
import { collect, endOf } from "../support/bulkRuns.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { type Reply, type Script, useRecordingServer } from "../support/recordingServer.js";
import { ranked } from "../support/responses.js";
import { networkError } from "../support/transientCodes.js";

// What ran was paid for: a run asks for it again only as often as the decision table says.

const server = useRecordingServer();
useNoBackoff();

const busy: Reply = { status: 503 };
const longPause: Reply = { status: 429, headers: { "retry-after": "120" } };
const cut: Script = (_request, response) => {
  response.writeHead(200, { "content-length": "100" });
  response.write('{"data":', () => response.destroy());
  return undefined;
};

async function rank(options: Parameters<typeof connect>[1] = {}): Promise<RerankAllResult> {
  const requests = [{ id: "a", query: "q", documents: ["d"] }];
  const [result] = await collect(rerankAll(connect(server.url, options), requests));
  return result as RerankAllResult;
}

test.each<[name: string, reply: Reply | Script, retries: number]>([
  ["without data", { json: {} }, events.incomplete.retries.read],
  ["whose score is 1e400", { text: '{"data":[{"index":0,"relevance_score":1e400}]}' }, 1],
  ["that is cut JSON", { text: '{"data":[' }, events.notJson.retries.read],
  ["that is empty", { text: "" }, events.notJson.retries.read],
  ["that is a list", { json: [] }, events.notJson.retries.read],
  ["whose body is cut", cut, events.bodyLost.retries.read],
])(
  "a response %s is asked for again as often as the table says, and no more",
  async (_name, reply, retries) => {
    for (const { options } of transports) {
      server.requests = [];
      server.reply(reply as Reply);
      // A run has its own number: the table's.
      const { error } = await rank({ ...options, maxRetries: 0 });
      // What an earlier test left in flight may arrive late.
      const sent = server.requests.filter((request) => queryOf(request) === "q");
      expect(sent).toHaveLength(1 + retries);
      expect(error).toMatchObject({ code: "INTERNAL", executed: "yes" });
      expect(error?.attempts).toHaveLength(1 + retries);
    }
  },
);

test("what did not run is tried on, and does not use up the retry of what did", async () => {
  const replies: Reply[] = [busy, busy, busy, { json: {} }, busy, busy, busy];
  server.reply((request) => replies.shift() ?? ranked(request));
  expect((await rank()).response?.data).toHaveLength(1);
  expect(server.requests).toHaveLength(8);
});

test("what ran twice is over, whatever came between", async () => {
  const replies: Reply[] = [busy, { json: {} }, busy, busy, { text: "" }];
  server.reply((request) => replies.shift() ?? ranked(request));
  const { error } = await rank();
  expect(error).toMatchObject({ code: "INTERNAL", executed: "yes", notRetried: "retries-used-up" });
  expect(server.requests).toHaveLength(5);
});

const twice: RerankAllRequest[] = ["a", "b"].map((id) => ({ id, query: id, documents: ["d"] }));

// The first response for "a" is useless, and paid for. Then "a" and "b" get what is given; undefined is no response.
const useless =
  (forB?: Reply, forA?: Reply): Script =>
  ({ body }, response) => {
    const ofA = server.requests.filter((each) => `${each.body}`.includes('"query":"a"'));
    if (`${body}`.includes('"query":"a"')) return ofA.length === 1 ? { json: {} } : forA;
    // Later than the first response for "a".
    setTimeout(() => forB && response.writeHead(forB.status ?? 200, forB.headers).end(), 50);
    return undefined;
  };

// Its response is the last: "b" waits for a retry that the run has no request left for.
const unjoinable: Script = ({ body }, response) => {
  if (!`${body}`.includes('"query":"a"')) return busy;
  const ranking = JSON.stringify({ data: [{ index: 7, relevance_score: 1 }] });
  setTimeout(() => response.writeHead(200, { "content-type": "application/json" }).end(ranking), 50);
  return undefined;
};

test.each<[name: string, script: Script, options: RerankAllOptions, code: string]>([
  ["maxRequests", useless(busy), { maxRequests: 2 }, "RESOURCE_EXHAUSTED"],
  ["maxRequests, at a ranking that cannot be joined", unjoinable, { maxRequests: 2 }, "RESOURCE_EXHAUSTED"],
  ["a key that is rejected", useless({ status: 401 }), {}, "UNAUTHENTICATED"],
  ["its time", useless(), { totalTimeoutMs: 300 }, "DEADLINE_EXCEEDED"],
  ["a long pause", useless(longPause), { maxPauseMs: 1000 }, "RESOURCE_EXHAUSTED"],
  ["a long pause of what was paid for", useless(undefined, longPause), {}, "RESOURCE_EXHAUSTED"],
])("a run that ends by %s has a result for what was paid for", async (_name, script, options, code) => {
  server.reply(script);
  const own = { concurrency: 2, timeoutMs: 2_000, ...options };
  const { all: results, error } = await endOf(rerankAll(connect(server.url), twice, own));
  expect(error).toMatchObject({ code, done: 1, notDone: ["b"] });
  expect(results).toMatchObject([{ id: "a", error: { executed: "yes", operation: "rerankDocuments" } }]);
  const sentForA = server.requests.filter(({ body }) => `${body}`.includes('"query":"a"'));
  expect(results[0]?.error?.attempts).toHaveLength(sentForA.length);
});

test("so it is in batches", async () => {
  server.reply((request) => (`${request.body}`.includes("lost") ? { json: {} } : ranked(request)));
  const client = connect(server.url, { maxRetries: undefined });
  const items = client.rerank.items("q", ["a", "b", "lost"], { text: String, batchSize: 1 });
  expect(await failureOf(() => items)).toMatchObject({ code: "INTERNAL", executed: "yes" });
  expect(server.requests.filter(({ body }) => `${body}`.includes("lost"))).toHaveLength(2);
});

const sentFirst = () => server.requests.filter(({ body }) => `${body}`.includes('"first"'));
// The first batch of "a" gets a useless response once; its retry, and the other batches, get none. "b" gets what ends the run.
const inBatches =
  (forB?: Reply): Script =>
  ({ body }, response) => {
    if (`${body}`.includes('"first"')) return sentFirst().length === 1 ? { json: {} } : undefined;
    if (`${body}`.includes('"query":"b"') && forB)
      setTimeout(() => response.writeHead(forB.status ?? 200, forB.headers).end(), 100);
    return undefined;
  };

test.each<[name: string, script: Script, options: RerankAllOptions, first: number]>([
  ["a key that is rejected", inBatches({ status: 401 }), {}, 2],
  ["its time", inBatches(), { totalTimeoutMs: 300 }, 2],
  ["maxRequests", inBatches(busy), { maxRequests: 4, attemptTimeoutMs: 200 }, 1],
  ["a long pause", inBatches(longPause), { maxPauseMs: 1000 }, 2],
])("so has one whose batch was paid for, at the end by %s", async (_name, script, options, first) => {
  server.reply(script);
  const requests = [{ id: "a", query: "a", documents: ["first", "second", "third"] }, { ...twice[1] }];
  const own = { concurrency: 4, batchSize: 1, timeoutMs: 2_000, ...options };
  const run = rerankAll(connect(server.url), requests as RerankAllRequest[], own);
  const { all: results, error } = await endOf(run);
  expect(sentFirst()).toHaveLength(first);
  expect(results).toMatchObject([{ id: "a", error: { executed: "yes", operation: "rerankDocuments" } }]);
  expect(error).toMatchObject({ done: 1, notDone: ["b"], batchesLost: 0 });
});

describe("the limits of a run", () => {
  const usage = { prompt_tokens: 10, total_tokens: 10 };

  const requests = (count: number) =>
    Array.from({ length: count }, (_, index) => requestOf(index)) as RerankAllRequest[];

  /** What a run hands out, how it ends, and what it has sent in all. */
  async function runWith(
    source: Iterable<RerankAllRequest>,
    options: RerankAllOptions,
    client = connect(server.url),
  ) {
    const results = rerankAll(client, source, options);
    const { all, error } = await endOf(results);
    return { ids: all.map(({ id }) => id), counts: results.counts, error };
  }

  test("a run counts its requests, retries and tokens, of those that failed too", async () => {
    server.reply((request) =>
      server.requests.length === 2
        ? { status: 503, json: { code: "UNAVAILABLE" } }
        : queryOf(request) === "q2"
          ? { status: 400, json: { code: "INVALID_ARGUMENT" } }
          : ranked(request, { usage }),
    );
    const { counts } = await runWith(requests(4), { concurrency: 1 });
    expect(counts).toEqual({ done: 4, requests: 5, retries: 1, tokens: 30 });
  });

  test.each([1, 4])(
    "maxRequests ends a run with %i at once, when all that was sent is there",
    async (most) => {
      server.reply((request) => ranked(request, { usage }));
      const { ids, error, counts } = await runWith(requests(20), { concurrency: most, maxRequests: 6 });
      expect(ids.sort()).toEqual(["r0", "r1", "r2", "r3", "r4", "r5"]);
      expect(error).toMatchObject({
        code: "RESOURCE_EXHAUSTED",
        codeSource: "client",
        limit: "maxRequests",
        executed: "yes",
        ...{ done: 6, requests: 6, retries: 0, tokens: 60 },
      });
      expect(error?.message).toContain("The run has made 6 requests (maxRequests).");
      expect(counts).toMatchObject({ requests: 6 });
      expect(server.requests).toHaveLength(6);
    },
  );

  test("retries count, and one that is left for the next run is not done", async () => {
    server.reply((request) =>
      queryOf(request) === "q1" ? { status: 503, json: { code: "UNAVAILABLE" } } : ranked(request, { usage }),
    );
    const { ids, error } = await runWith(requests(20), { concurrency: 1, maxRequests: 3 });
    expect(server.requests.map(queryOf)).toEqual(["q0", "q1", "q1"]);
    expect(ids).toEqual(["r0"]);
    expect(error).toMatchObject({ limit: "maxRequests", notDone: ["r1"], requests: 3, retries: 1 });
  });

  test("a request that is refused before it is sent takes none of the requests; without usage no tokens count", async () => {
    server.reply((request) => ranked(request));
    const source = [{ id: "empty", query: "q", documents: [] }, ...requests(2)];
    const { ids, error, counts } = await runWith(source, { concurrency: 1, maxRequests: 2 });
    expect([ids.sort(), error]).toEqual([["empty", "r0", "r1"], undefined]);
    expect(counts).toEqual({ done: 3, requests: 2, retries: 0, tokens: 0 });
  });

  // The run reads more of such a response before its request has a result.
  test("a last response that is no ranking is no limit", async () => {
    server.reply(() => ({ json: { object: "list", data: [] } }));
    const client = connect(server.url);
    const options = { concurrency: 1, maxRequests: 1 };
    const whole = await runWith(requests(1), options, client);
    expect([whole.ids, whole.error]).toEqual([["r0"], undefined]);
    const { ids, error } = await runWith(requests(2), options, client);
    expect(ids).toEqual(["r0"]);
    expect(error).toMatchObject({ limit: "maxRequests", done: 1, notDone: ["r1"] });
  });

  test.each(["a list", "an async source"])("exactly as many as there are is no limit: %s", async (kind) => {
    server.reply((request) => ranked(request, { usage }));
    async function* later(): AsyncGenerator<RerankAllRequest> {
      yield* requests(3);
    }
    const source = kind === "a list" ? requests(3) : later();
    const run = await runWith(source as Iterable<RerankAllRequest>, { concurrency: 2, maxRequests: 3 });
    expect([run.ids.length, run.error]).toEqual([3, undefined]);
  });

  test("a request that this machine had no socket for takes none, and the run goes on at its limit", async () => {
    let calls = 0;
    const fetch = async (): Promise<Response> => {
      calls += 1;
      if (calls === 1)
        throw Object.assign(new TypeError("fetch failed"), { cause: networkError("EMFILE", "connect") });
      return Response.json({ data: [0, 1].map((index) => ({ index, relevance_score: 1 })) });
    };
    const client = connect(server.url, { fetch });
    const run = await runWith(requests(2), { concurrency: 4, maxRequests: 2 }, client);
    expect([run.ids.sort(), run.error, run.counts.requests]).toEqual([["r0", "r1"], undefined, 2]);
    calls = 0;
    const one = await runWith(requests(1), { concurrency: 4, maxRequests: 1 }, client);
    expect([one.ids, one.error, one.counts.requests]).toEqual([["r0"], undefined, 1]);
  });

  test("maxTokens ends a run at the number that the responses count", async () => {
    server.reply((request) => ranked(request, { usage }));
    const { error, counts } = await runWith(requests(20), { concurrency: 1, maxTokens: 25 });
    expect(error).toMatchObject({ limit: "maxTokens", done: 3, tokens: 30 });
    expect(error?.message).toContain("The responses of the run count 30 tokens (maxTokens).");
    expect(counts).toMatchObject({ requests: 3 });
  });

  test("maxTokens counts what is in flight as far as it can be estimated", async () => {
    server.reply((request) => ranked(request, { usage }));
    // Each request has 43 bytes, which are about eleven tokens until the first response says ten.
    const { error } = await runWith(requests(100), { concurrency: 50, maxTokens: 100 });
    expect(error).toMatchObject({ limit: "maxTokens", tokens: 100 });
  });

  test("without usage in the responses, maxTokens counts what is estimated", async () => {
    server.reply((request) => ranked(request));
    const { error } = await runWith(requests(100), { concurrency: 1, maxTokens: 30 });
    expect(error).toMatchObject({ limit: "maxTokens", requests: 3, tokens: 0 });
    expect(error?.message).toContain("estimated");
  });
});
