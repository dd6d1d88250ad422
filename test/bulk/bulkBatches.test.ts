// A request with more documents than one request takes is sent in batches, and has one result.
import { beforeEach, describe, expect, test } from "vitest";
import {
  type RerankAllError,
  type RerankAllOptions,
  type RerankAllRequest,
  type RerankAllResult,
  rerankAll,
} from "../../src/bulk/index.js";
import { useNoBackoff } from "../support/backoff.js";
import { endOf as outcomeOf } from "../support/bulkRuns.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { type ReceivedRequest, type Reply, useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
useNoBackoff();

const bodyOf = ({ body }: ReceivedRequest) => JSON.parse(`${body}`);
const sent = (): string[][] => server.requests.map((request) => bodyOf(request).documents);
// The score of a document is its text, read as a number.
const byText = (request: ReceivedRequest): Reply => {
  const { documents } = bodyOf(request) as { documents: string[] };
  const data = documents.map((text, index) => ({ index, relevance_score: Number(text) }));
  data.sort((a, b) => b.relevance_score - a.relevance_score);
  const { length } = documents;
  return {
    json: { object: "list", model: "m", data, usage: { prompt_tokens: length, total_tokens: 2 * length } },
  };
};
// Rejects a request with one of these documents.
const rejecting =
  (bad: readonly string[]) =>
  (request: ReceivedRequest): Reply => {
    const at = (bodyOf(request).documents as string[]).findIndex((text) => bad.includes(text));
    const message = `documents[${at}] is too long.`;
    return at < 0 ? byText(request) : { status: 400, json: { code: "INVALID_ARGUMENT", message } };
  };
const texts = (count: number): string[] => Array.from({ length: count }, (_, index) => `${index}`);

type Options = RerankAllOptions & Parameters<typeof connect>[1];

async function rankMany(
  requests: readonly RerankAllRequest[],
  { batchSize, split, concurrency, ordered, ...client }: Options,
): Promise<RerankAllResult[]> {
  const results: RerankAllResult[] = [];
  const options = { batchSize, split, concurrency, ordered };
  for await (const result of rerankAll(connect(server.url, client), requests, options)) results.push(result);
  return results;
}

async function rank(
  documents: readonly string[],
  options: Options,
  more: object = {},
): Promise<RerankAllResult> {
  const [result] = await rankMany([{ id: "a", query: "q", documents, ...more }], options);
  return result as RerankAllResult;
}

const indexesOf = ({ response }: RerankAllResult) => response?.data.map(({ index }) => index);

beforeEach(() => server.reply(byText));

describe.each(transports)("over $name", ({ options }) => {
  test("batches of a request are joined to one ranking of its documents", async () => {
    const { response, error } = await rank(texts(7), { ...options, batchSize: 3 });
    expect(error).toBeUndefined();
    expect(sent()).toEqual([["0", "1", "2"], ["3", "4", "5"], ["6"]]);
    expect(response).toEqual({
      object: "list",
      model: "m",
      data: texts(7)
        .map((document, index) => ({ index, relevance_score: index, document }))
        .reverse(),
      usage: { prompt_tokens: 7, total_tokens: 14 },
    });
  });

  test("a document that the service rejects costs itself", async () => {
    server.reply(rejecting(["1"]));
    const result = await rank(texts(5), { ...options, batchSize: 3, concurrency: 2 });
    expect(indexesOf(result)).toEqual([4, 3, 2, 0]);
    expect(sent().sort()).toEqual([["0", "1", "2"], ["3", "4"], ["0"], ["1", "2"], ["1"], ["2"]].sort());
    const [rejected, ...others] = result.response === undefined ? [] : (result.rejected ?? []);
    expect([others, rejected]).toMatchObject([
      [],
      { index: 1, error: { code: "INVALID_ARGUMENT", executed: "no", httpStatus: 400, item: 1 } },
    ]);
    expect(rejected?.error.text).toBe("documents[0] is too long.");
  });
});

test("top_n and return_documents hold for all batches together", async () => {
  const result = await rank(texts(5), { batchSize: 2 }, { top_n: 3, return_documents: false });
  expect(result.response?.data).toEqual([4, 3, 2].map((index) => ({ index, relevance_score: index })));
  for (const request of server.requests)
    expect(bodyOf(request)).toEqual({
      query: "q",
      documents: expect.any(Array),
      return_documents: false,
    });
});

test("a document of several parts has the score of its best part", async () => {
  const split = (text: string): string[] => text.split(" ");
  const result = await rank(["1 9", "5", "4 2 8"], { batchSize: 2, split });
  expect(sent()).toEqual([["1", "9"], ["5"], ["4", "2"], ["8"]]);
  expect(result.response?.data).toEqual([
    { index: 0, relevance_score: 9, document: "1 9", part: 1 },
    { index: 2, relevance_score: 8, document: "4 2 8", part: 2 },
    { index: 1, relevance_score: 5, document: "5", part: 0 },
  ]);
});

test("a rejected part costs its document, also after another was ranked; its others are not sent any more", async () => {
  server.reply(rejecting(["2"]));
  const split = (text: string): string[] => text.split(" ");
  const result = await rank(["1 2 3 4 9", "5"], { batchSize: 2, split, concurrency: 1 });
  expect(indexesOf(result)).toEqual([1]);
  expect(sent()).toEqual([["1", "2"], ["1"], ["2"], ["5"]]);
});

test("requests that fit are sent whole, and each has its own result", async () => {
  const requests = [1, 4, 2].map((count, index) => ({ id: `${index}`, query: "q", documents: texts(count) }));
  const results = await rankMany(requests, { batchSize: 2, ordered: true });
  expect(results.map(({ id }) => id)).toEqual(["0", "1", "2"]);
  expect(results.map(indexesOf)).toEqual([[0], [3, 2, 1, 0], [1, 0]]);
  expect(server.requests).toHaveLength(4);
});

test("a batch that fails for a while is retried alone, and the others are not paid again", async () => {
  let left = 2;
  server.reply((request) =>
    bodyOf(request).documents[0] === "2" && left-- > 0 ? { status: 503 } : byText(request),
  );
  expect(indexesOf(await rank(texts(6), { batchSize: 2 }))).toEqual([5, 4, 3, 2, 1, 0]);
  expect(sent().filter(([first]) => first !== "2")).toHaveLength(2);
  expect(sent()).toHaveLength(5);
});

test("a batch that fails for good fails its request, of which nothing more is sent", async () => {
  server.reply((request) =>
    bodyOf(request).documents[0] === "2" ? { status: 404, json: { code: "NOT_FOUND" } } : byText(request),
  );
  const { error } = await rank(texts(9), { batchSize: 2, concurrency: 1 });
  expect(sent()).toEqual([
    ["0", "1"],
    ["2", "3"],
  ]);
  // The first batch was paid for.
  expect(error).toMatchObject({ code: "NOT_FOUND", executed: "yes" });
});

test.each([
  [64, 1, 7],
  [64, 4, 10],
  [1, 1, 4],
  [2, 1, 6],
  [1000, 1, 7],
])(
  "an invalid query, in batches of %i and %i at once, costs %i requests",
  async (batchSize, concurrency, most) => {
    server.reply({ status: 400, json: { code: "INVALID_ARGUMENT", message: "No such model." } });
    const { error, response } = await rank(texts(1000), { batchSize, concurrency });
    expect(response).toBeUndefined();
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
    expect(error?.message).toBe("[INVALID_ARGUMENT] No such model.");
    expect(server.requests).toHaveLength(most);
  },
);

test.each([8, 64, 100, 1000])(
  "one rejected document of %i costs at most 2 + 2 log2 requests more",
  async (size) => {
    for (const bad of [0, 1, size >> 1, size - 1]) {
      server.requests = [];
      server.reply(rejecting([`${bad}`]));
      const { response, rejected } = await rank(texts(size), { batchSize: size, concurrency: 1 });
      expect(rejected?.map(({ index }) => index)).toEqual([bad]);
      expect(response?.data).toHaveLength(size - 1);
      expect(server.requests.length - 1).toBeLessThanOrEqual(2 + 2 * Math.log2(size));
    }
  },
);

test("a response of a batch that cannot be joined is an error, which is not asked for again", async () => {
  server.reply((request) =>
    bodyOf(request).documents[0] === "2"
      ? { json: { data: [{ index: 7, relevance_score: 1 }] } }
      : byText(request),
  );
  const { error } = await rank(texts(4), { batchSize: 2 });
  expect(error).toMatchObject({ code: "INTERNAL", executed: "yes" });
  expect(server.requests).toHaveLength(2);
});

test.each<[name: string, more: object, split: RerankAllOptions["split"], says: string]>([
  ["documents are no list of texts", { documents: ["a", 1, "b"] }, undefined, "documents[1]"],
  ["documents are missing", { documents: undefined }, undefined, "documents must be"],
  ["top_n is 0", { top_n: 0 }, undefined, "top_n must be"],
  ["split throws", {}, () => JSON.parse("x"), "split failed for documents[0]"],
  ["split gives nothing", {}, () => [], "split must give a list of at least 1 string for documents[0]"],
])("nothing is sent if %s", async (_name, more, split, says) => {
  const { error } = await rank(texts(4), { batchSize: 2, split }, more);
  expect(error).toMatchObject({
    code: expect.stringMatching(/INVALID_ARGUMENT|OUT_OF_RANGE/),
    executed: "no",
  });
  expect(error?.message).toContain(says);
  expect(server.connections).toBe(0);
});

describe("a limit of the run", () => {
  const twoRequests = [2, 4].map((count, id) => ({ id: `${id}`, query: "q", documents: texts(count) }));

  const endOf = (requests: readonly RerankAllRequest[], options: RerankAllOptions) =>
    outcomeOf(rerankAll(connect(server.url), requests, { concurrency: 1, batchSize: 1, ...options }));

  test.each([{ maxRequests: 5 }, { maxTokens: 10 }])(
    "in the middle of a request it says how many batches were paid for in vain: %o",
    async (limit) => {
      const { all, error } = await endOf(twoRequests, limit);
      expect(all.map(({ id }) => id)).toEqual(["0"]);
      expect(error).toMatchObject({ notDone: ["1"], batchesLost: 3, done: 1, requests: 5, executed: "yes" });
      expect(error?.message).toContain("1 request without a result; 3 of their batches were paid for.");
    },
  );

  test("with no batch of an unfinished request, none is lost", async () => {
    const { error } = await endOf(twoRequests, { maxRequests: 2, batchSize: 2 });
    expect(error).toMatchObject({ notDone: ["1"], batchesLost: 1 });
    const whole = await endOf(twoRequests, { maxRequests: 1, batchSize: 4 });
    expect(whole.error).toMatchObject({ notDone: ["1"], batchesLost: 0 });
    expect(whole.error?.message).not.toContain("batches");
  });

  test("a request that alone takes more is refused before its first batch", async () => {
    const { all, error } = await endOf(twoRequests, { maxRequests: 3 });
    expect(error).toBeUndefined();
    expect(all.map((result) => result.error?.code)).toEqual([undefined, "OUT_OF_RANGE"]);
    expect(all[1]?.error).toMatchObject({ executed: "no", attempts: [] });
    expect(all[1]?.error?.message).toContain("needs 4 HTTP requests (batchSize), and maxRequests is 3.");
    expect(sent()).toHaveLength(2);
  });
});

test("a run that ends names each request that is not done once", async () => {
  server.reply((request) => (bodyOf(request).query === "b" ? { status: 401 } : byText(request)));
  const requests = ["a", "b"].map((id) => ({ id, query: id, documents: texts(6) }));
  const error = (await failureOf(() =>
    rankMany(requests, { batchSize: 2, concurrency: 1 }),
  )) as RerankAllError;
  expect(error).toMatchObject({ code: "UNAUTHENTICATED", done: 1, notDone: ["b"] });
});

const hundred = texts(100);
const every = (step: number, first = 0): string[] => hundred.filter((_, at) => at % step === first);
test.each<[batchSize: number, what: string, bad: string[]]>([
  [100, "50 % at the start", hundred.slice(0, 50)],
  [32, "50 % at the end", hundred.slice(-50)],
  [32, "every second", every(2, 1)],
  [1, "every 20th", every(20)],
])("in batches of %i, %s are left out, and the others are ranked", async (batchSize, _what, bad) => {
  server.reply(rejecting(bad));
  const { response, rejected, error } = await rank(hundred, { batchSize, concurrency: 4 });
  expect(error).toBeUndefined();
  expect(rejected?.map(({ index }) => `${index}`).sort()).toEqual([...bad].sort());
  expect(response?.data).toHaveLength(100 - bad.length);
});
