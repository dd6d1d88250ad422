// What ran was paid for: a run asks for it again only as often as the decision table says.
import { expect, test } from "vitest";
import {
  type RerankAllOptions,
  type RerankAllRequest,
  type RerankAllResult,
  rerankAll,
} from "../../src/bulk/index.js";
import { events } from "../../src/policy/decisions.js";
import { useNoBackoff } from "../support/backoff.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { ranked } from "../support/rankings.js";
import { type Reply, type Script, useRecordingServer } from "../support/recordingServer.js";

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
  for await (const result of rerankAll(connect(server.url, options), requests)) return result;
  throw new Error("There is no result.");
}

test.each<[name: string, reply: Reply | Script, retries: number]>([
  ["without data", { json: {} }, events.incomplete.retries.read],
  ["whose score is 1e400", { text: '{"data":[{"index":0,"relevance_score":1e400}]}' }, 1],
  ["that is cut JSON", { text: '{"data":[' }, events.notJson.retries.read],
  ["that is empty", { text: "" }, events.notJson.retries.read],
  ["that is a list", { json: [] }, events.notJson.retries.read],
  ["whose body is cut", cut, events.bodyLost.retries.read],
  ["that cannot be joined", { json: { data: [{ index: 7, relevance_score: 1 }] } }, 0],
])(
  "a response %s is asked for again as often as the table says, and no more",
  async (_name, reply, retries) => {
    for (const { options } of transports) {
      server.requests = [];
      server.reply(reply as Reply);
      // A run has its own number: the table's.
      const { error } = await rank({ ...options, maxRetries: 0 });
      expect(server.requests).toHaveLength(1 + retries);
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

/** The results of a run of two requests that does not end well, and its error. */
async function ended(options: RerankAllOptions): Promise<[RerankAllResult[], unknown]> {
  const results: RerankAllResult[] = [];
  const run = rerankAll(connect(server.url), twice, { concurrency: 2, ...options });
  const error = await failureOf(async () => {
    for await (const result of run) results.push(result);
  });
  return [results, error];
}

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
  const [results, error] = await ended({ timeoutMs: 2_000, ...options });
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
  const results: RerankAllResult[] = [];
  const run = rerankAll(connect(server.url), requests as RerankAllRequest[], {
    concurrency: 4,
    batchSize: 1,
    timeoutMs: 2_000,
    ...options,
  });
  const error = await failureOf(async () => {
    for await (const result of run) results.push(result);
  });
  expect(sentFirst()).toHaveLength(first);
  expect(results).toMatchObject([{ id: "a", error: { executed: "yes", operation: "rerankDocuments" } }]);
  expect(error).toMatchObject({ done: 1, notDone: ["b"], batchesLost: 0 });
});
