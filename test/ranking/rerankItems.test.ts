import { describe, expect, test } from "vitest";
import type { RerankRequest } from "../../src/index.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { type ReceivedRequest, type Reply, useRecordingServer } from "../support/recordingServer.js";
import { withHint } from "../support/withHint.js";

interface Thing {
  readonly name: string;
  readonly worth: number;
}

const server = useRecordingServer();
const text = ({ name, worth }: Thing): string => `${name} ${worth}`;

function things(...worths: number[]): Thing[] {
  return worths.map((worth, position) => ({ name: `thing-${position}`, worth }));
}

function bodyOf({ body }: ReceivedRequest): RerankRequest {
  return JSON.parse(body.toString());
}

/** Scores a document by the number it ends with. */
function byWorth(request: ReceivedRequest): Reply {
  const data = bodyOf(request).documents.map((document, index) => ({
    index,
    relevance_score: Number(document.split(" ").pop()),
  }));
  data.sort((a, b) => b.relevance_score - a.relevance_score || b.index - a.index);
  return {
    json: { object: "list", model: "m", data, usage: { prompt_tokens: data.length, total_tokens: 2 } },
    headers: { "x-request-id": `req-${server.requests.length}` },
  };
}

describe.each(transports)("rerank.items over $name", ({ options }) => {
  const client = () => connect(server.url, options);

  test("hands the things themselves back, best first, from one request without documents", async () => {
    server.reply(byWorth);
    const given = things(3, 9, 5);
    const model = "accounts/acme/models/m";
    const ranked = await client().rerank.items("worth", given, { text, model, task: "Rank by worth." });
    expect(ranked).toEqual([
      { item: given[1], index: 1, score: 9 },
      { item: given[2], index: 2, score: 5 },
      { item: given[0], index: 0, score: 3 },
    ]);
    expect(ranked[0]?.item).toBe(given[1]);
    expect(bodyOf(server.only)).toEqual({
      query: "worth",
      documents: ["thing-0 3", "thing-1 9", "thing-2 5"],
      return_documents: false,
      model,
      task: "Rank by worth.",
    });
  });

  test("merges batches to one order, equal scores by index, and applies topN once to all of them", async () => {
    server.reply(byWorth);
    const given = things(1, 7, 7, 4, 7, 9, 0);
    const call = client().rerank.items("worth", given, { text, batchSize: 3, concurrency: 2, topN: 5 });
    const { data, usage, model, requestIds, attempts, ...last } = await call.withResponse();
    expect(data.map(({ index, score }) => [index, score])).toEqual([
      [5, 9],
      [1, 7],
      [2, 7],
      [4, 7],
      [3, 4],
    ]);
    for (const { item, index } of data) expect(item).toBe(given[index]);
    expect(server.requests.map((request) => bodyOf(request).documents.length).sort()).toEqual([1, 3, 3]);
    for (const request of server.requests) expect(bodyOf(request)).not.toHaveProperty("top_n");
    expect({ usage, model }).toEqual({ usage: { prompt_tokens: 7, total_tokens: 6 }, model: "m" });
    expect([...requestIds].sort()).toEqual(["req-1", "req-2", "req-3"]);
    expect(attempts).toHaveLength(3);
    expect(last).toMatchObject({ requestId: requestIds[2], httpStatus: 200 });
    expect(last.headers).toMatchObject({ "x-request-id": requestIds[2] });
    expect(await call).toEqual(data);
  });

  test("without items sends nothing and gives an empty list", async () => {
    const call = client().rerank.items<Thing>("worth", [], { text });
    expect(await call).toEqual([]);
    expect(await call.withResponse()).toEqual({
      data: [],
      model: undefined,
      usage: { prompt_tokens: 0, total_tokens: 0 },
      requestIds: [],
      attempts: [],
    });
    expect(server.requests).toHaveLength(0);
  });

  test("takes a response that sends the documents, or empty ones, all the same", async () => {
    const data = [
      { index: 1, relevance_score: 2, document: "thing-1 2" },
      { index: 0, relevance_score: 1, document: "" },
    ];
    server.reply({ json: { object: "list", model: "m", data } });
    const ranked = await client().rerank.items("q", things(1, 2), { text });
    expect(ranked.map(({ index }) => index)).toEqual([1, 0]);
  });

  test("batches of different models have no common order", async () => {
    server.reply((request) => {
      const { json } = byWorth(request) as { json: object };
      return { json: { ...json, model: bodyOf(request).documents[0] } };
    });
    const error = await failureOf(() => client().rerank.items("q", things(1, 2), { text, batchSize: 1 }));
    expect(error).toMatchObject({ code: "INTERNAL", executed: "yes" });
    expect(error.message).toMatch(/different models: thing-0 1, thing-1 2/);
  });
});

describe("arguments of rerank.items are checked before anything is sent", () => {
  const items = things(1, 2, 3);
  test.each<[given: Record<string, unknown>, message: string]>([
    [{ query: undefined }, "query must be a string."],
    [{ items: "abc" }, "items must be a list."],
    [{ options: undefined }, "text must be a function."],
    [{ text: "name" }, "text must be a function."],
    [{ model: 1 }, "model must be a string when given."],
    [{ task: 1 }, "task must be a string when given."],
    [{ topN: 0 }, "topN must be at least 1, not 0."],
    [{ batchSize: 0 }, "batchSize must be at least 1, not 0."],
    [{ batchSize: 1.5 }, "batchSize must be a whole number, not 1.5."],
    [{ concurrency: 0 }, "concurrency must be at least 1, not 0."],
    [{ signal: {} }, "signal must be an AbortSignal."],
    [{ timeoutMs: 0 }, "timeoutMs must be greater than 0, not 0."],
  ])("%j", async (given, message) => {
    const client = connect(server.url);
    const { query: _, items: __, options: ___, ...own } = given;
    const code = message.endsWith("not 0.") ? "OUT_OF_RANGE" : "INVALID_ARGUMENT";
    for (const list of [items, []]) {
      const all = { query: "q", items: list, options: { text, ...own }, ...given };
      const error = await failureOf(() =>
        client.rerank.items(all.query as string, all.items as Thing[], all.options as never),
      );
      expect(error).toMatchObject({ code, executed: "no", operation: "rerankDocuments", attempts: [] });
      expect(error.message).toBe(withHint(`[${code}] ${message}`, error));
    }
    expect(server.requests).toHaveLength(0);
  });

  test.each([
    [
      "gives no string",
      (_: Thing, index: number) => (index < 2 ? "ok" : null),
      "text must give a string for items[2], not null.",
    ],
    [
      "throws",
      (_: Thing, index: number) => {
        if (index === 1) throw new Error("mine");
        return "ok";
      },
      "text failed for items[1].",
    ],
  ])("a text that %s names the item, in whichever batch it is", async (_name, broken, message) => {
    const client = connect(server.url);
    const error = await failureOf(() =>
      client.rerank.items("q", items, { text: broken as never, batchSize: 1, concurrency: 1 }),
    );
    expect(error.message).toBe(withHint(`[INVALID_ARGUMENT] ${message}`, error));
    expect(error.executed).toBe("no");
    expect(server.requests).toHaveLength(0);
  });
});

test("the client's rerankModel is sent unless the call names one, and a plain rerank works beside it", async () => {
  server.reply(byWorth);
  const client = connect(server.url, { rerankModel: "accounts/acme/models/default" });
  await client.rerank.items("q", things(1), { text });
  await client.rerank({ query: "q", documents: ["d 1"] });
  expect(server.requests.map((request) => bodyOf(request).model)).toEqual([
    "accounts/acme/models/default",
    "accounts/acme/models/default",
  ]);
});

test("a list that changes while the call runs changes nothing", async () => {
  server.reply(byWorth);
  const given = things(1, 2, 3);
  const call = connect(server.url).rerank.items("q", given, { text, batchSize: 1, concurrency: 1 });
  given.length = 0;
  expect((await call).map(({ item }) => item?.worth)).toEqual([3, 2, 1]);
});

test("a batch that may be repeated is repeated alone", async () => {
  const failed = new Set<string>();
  server.reply((request) => {
    const [first = ""] = bodyOf(request).documents;
    if (first !== "thing-1 2" || failed.has(first)) return byWorth(request);
    failed.add(first);
    return { status: 503, json: { code: "UNAVAILABLE" } };
  });
  const client = connect(server.url, { maxRetries: 1 });
  const call = client.rerank.items("q", things(1, 2, 3), { text, batchSize: 1 });
  const { data, attempts } = await call.withResponse();
  expect(data.map(({ index }) => index)).toEqual([2, 1, 0]);
  expect(attempts.map(({ code }) => code).filter(Boolean)).toEqual(["UNAVAILABLE"]);
  expect(server.requests).toHaveLength(4);
});
