import type { ServerResponse } from "node:http";
import { describe, expect, test, vi } from "vitest";
import type { RankedBatch, RerankItemsError, RerankItemsOptions, RerankPartial } from "../../src/index.js";
import { useNoBackoff } from "../support/backoff.js";
import { connect, failureOf } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { type ReceivedRequest, type Reply, useRecordingServer } from "../support/recordingServer.js";
import { documentsOf, ranked as rankedOf } from "../support/responses.js";
import { turns, until } from "../support/turns.js";
import { withHint } from "../support/withHint.js";

const server = useRecordingServer();

describe("what was ranked before a failure", () => {
  const items = Array.from({ length: 40 }, (_, index) => ({ index }));
  type Item = (typeof items)[number];
  const text = ({ index }: Item): string => `item ${index}`;
  const inTurn = { text, batchSize: 10, concurrency: 1 };

  // The number in a document is its score.
  function ranked(request: ReceivedRequest): Reply {
    const data = documentsOf(request).map((document, index) => ({
      index,
      relevance_score: Number(/\d+$/.exec(document)?.[0]),
    }));
    return { json: { object: "list", model: "m", data, usage: { prompt_tokens: 1, total_tokens: 2 } } };
  }

  const fails: Reply = { status: 400, json: { error: { code: "INVALID_ARGUMENT", message: "No." } } };

  async function failed(options: Partial<RerankItemsOptions<Item>> = {}): Promise<RerankItemsError<Item>> {
    server.reply((request) => (documentsOf(request).includes("item 31") ? fails : ranked(request)));
    const client = connect(server.url);
    const error = await failureOf(() => client.rerank.items("q", items, { ...inTurn, ...options }));
    return error as RerankItemsError<Item>;
  }

  function indices(from: number, to: number): number[] {
    return Array.from({ length: to - from }, (_, at) => to - 1 - at);
  }

  test("a failed call keeps what was ranked, and says what is missing and which batch failed", async () => {
    const error = await failed({ topN: 3 });
    const { partial, message } = error;
    // It is left out of what logs show.
    expect(Object.keys(error)).not.toContain("partial");
    expect(error.toJSON()).not.toHaveProperty("partial");
    expect(partial.data.map(({ index }) => index)).toEqual(indices(0, 30));
    expect(partial.data[0]).toEqual({ item: items[29], index: 29, score: 29 });
    expect(partial).toMatchObject({
      model: "m",
      usage: { prompt_tokens: 3, total_tokens: 6 },
      missing: [{ offset: 30, count: 10 }],
      failed: { batch: 3, offset: 30, count: 10 },
    });
    expect(message).toContain("[INVALID_ARGUMENT] No. This was batch 3, items[30] to items[39].");
  });

  test("a call goes on from it, also from its JSON, and sends what is missing only", async () => {
    const { partial } = await failed();
    server.requests = [];
    server.reply(ranked);
    const continueFrom: RerankPartial<Item> = JSON.parse(JSON.stringify(partial));
    const ranking = connect(server.url).rerank.items("q", items, {
      text,
      batchSize: 4,
      topN: 12,
      continueFrom,
    });
    const { data, usage, model } = await ranking.withResponse();
    expect(data.map(({ index }) => index)).toEqual(indices(28, 40));
    expect(data.every(({ item, index }) => item === items[index])).toBe(true);
    expect(server.requests.map((request) => documentsOf(request).length)).toEqual([4, 4, 2]);
    expect([usage.total_tokens, model]).toEqual([12, "m"]);
  });

  test("a call that goes on and fails again keeps what both have ranked", async () => {
    const { partial: none } = await failed({ batchSize: undefined });
    expect(none).toMatchObject({ data: [], missing: [{ offset: 0, count: 40 }], model: undefined });
    const { partial } = await failed({ continueFrom: none });
    const error = await failed({ batchSize: 1, continueFrom: partial });
    expect(error.partial.data.map(({ index }) => index)).toEqual(indices(0, 31));
    expect(error.partial.missing).toEqual([{ offset: 31, count: 9 }]);
    server.reply(ranked);
    const whole = await connect(server.url).rerank.items("q", items, { text, continueFrom: error.partial });
    expect(whole.map(({ index }) => index)).toEqual(indices(0, 40));
  });

  test.each<[what: string, query: string, change: Partial<RerankItemsOptions<Item>>]>([
    ["the items", "q", { text: ({ index }) => `other ${index}` }],
    ["the query", "another", {}],
    ["the model, the task or another field", "q", { model: "accounts/a/models/b" }],
    ["the model, the task or another field", "q", { task: "another" }],
  ])("a call of which %s differ is refused", async (what, query, change) => {
    const { partial } = await failed();
    server.requests = [];
    const options = { ...inTurn, continueFrom: partial, ...change };
    const error = await failureOf(() => connect(server.url).rerank.items(query, items, options));
    expect(error.message).toContain(`continueFrom is from another call: ${what} differ.`);
    expect(server.requests).toEqual([]);
  });

  test.each([{}, 5, { data: [{ index: 99, score: 1 }], missing: [], fingerprint: "" }])(
    "continueFrom that is no partial is refused: %j",
    async (continueFrom) => {
      const options = { ...inTurn, continueFrom: continueFrom as never };
      const error = await failureOf(() => connect(server.url).rerank.items("q", items, options));
      expect(error.message).toContain("continueFrom must be the `partial` of an error for the same items.");
      expect(error).not.toHaveProperty("partial");
    },
  );

  test("onBatch tells of each batch, and what it throws changes nothing", async () => {
    server.reply(ranked);
    const told: RankedBatch<Item>[] = [];
    const onBatch = (batch: RankedBatch<Item>): void => {
      told.push(batch);
      throw new Error("Ignored.");
    };
    await connect(server.url).rerank.items("q", items.slice(0, 25), { ...inTurn, onBatch });
    expect(
      told.map(({ batch, offset, count, done, batches }) => [batch, offset, count, done, batches]),
    ).toEqual([
      [0, 0, 10, 1, 3],
      [1, 10, 10, 2, 3],
      [2, 20, 5, 3, 3],
    ]);
    expect(told[2]?.data.map(({ item }) => item)).toEqual(items.slice(20, 25).reverse());
  });

  test("batches end at maxBatchBytes of JSON in UTF-8, or at batchSize, whichever comes first", async () => {
    server.reply(ranked);
    const long = ["é".repeat(50), "ü".repeat(50), '"'.repeat(50), "a", "b", "c", "d"].map(
      (each) => `${each} 1`,
    );
    const options = { text: (each: string) => each, maxBatchBytes: 280, batchSize: 3, concurrency: 1 };
    const result = await connect(server.url).rerank.items("q", long, options);
    expect(result).toHaveLength(7);
    const sizes = server.requests.map(({ body }) => body.length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(280);
    // One more document would have been too much.
    expect(server.requests.map((request) => documentsOf(request).length)).toEqual([2, 3, 2]);
    const exact = server.requests[0]?.body.length as number;
    server.requests = [];
    await connect(server.url).rerank.items("q", long.slice(0, 2), { ...options, maxBatchBytes: exact });
    await connect(server.url).rerank.items("q", long.slice(0, 2), { ...options, maxBatchBytes: exact - 1 });
    expect(server.requests.map((request) => documentsOf(request).length)).toEqual([2, 1, 1]);
  });

  test("an item that alone is larger than maxBatchBytes is refused before anything is sent", async () => {
    const options = { text: (each: string) => each, maxBatchBytes: 100 };
    const error = await failureOf(() =>
      connect(server.url).rerank.items("q", ["a", "x".repeat(99)], options),
    );
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
    expect(error.item).toBe(1);
    expect(error.message).toMatch(/items\[1\] alone makes a request of \d+ bytes: maxBatchBytes is 100\./);
    expect(server.requests).toEqual([]);
  });

  const texts = ["long 3|long 9|long 1", "short 5", "x 2|x 7|x 8|x 4|x 6"];
  const split = (whole: string): string[] => whole.split("|");
  const identity = (each: string): string => each;

  test("an item of parts has the score of its best part, and says which it is", async () => {
    server.reply(ranked);
    const result = await connect(server.url).rerank.items("q", texts, { text: identity, split });
    expect(result).toEqual([
      { item: texts[0], index: 0, score: 9, part: 1 },
      { item: texts[2], index: 2, score: 8, part: 2 },
      { item: texts[1], index: 1, score: 5, part: 0 },
    ]);
    expect(documentsOf(server.only)).toHaveLength(9);
  });

  test("parts of one item may go in several requests, and items are kept together where they fit", async () => {
    server.reply(ranked);
    const options = { text: identity, split, batchSize: 4, concurrency: 1 };
    const result = await connect(server.url).rerank.items("q", texts, options);
    expect(result.map(({ index, part }) => [index, part])).toEqual([
      [0, 1],
      [2, 2],
      [1, 0],
    ]);
    expect(server.requests.map((request) => documentsOf(request).length)).toEqual([4, 4, 1]);
  });

  test("an item is missing until all its parts are ranked, and errors name the item", async () => {
    server.reply((request) =>
      documentsOf(request).includes("x 6")
        ? { status: 400, json: { code: "INVALID_ARGUMENT", message: "documents[0] is bad." } }
        : ranked(request),
    );
    const options = { text: identity, split, batchSize: 4, concurrency: 1 };
    const error = (await failureOf(() =>
      connect(server.url).rerank.items("q", texts, options),
    )) as RerankItemsError<string>;
    expect(error.message).toContain("documents[0] is bad. This was batch 2, items[2].");
    expect(error.item).toBe(2);
    expect(error.partial.data.map(({ index }) => index)).toEqual([0, 1]);
    expect(error.partial.missing).toEqual([{ offset: 2, count: 1 }]);
    server.reply(ranked);
    const whole = await connect(server.url).rerank.items("q", texts, {
      ...options,
      continueFrom: error.partial,
    });
    expect(whole.map(({ index, score }) => [index, score])).toEqual([
      [0, 9],
      [2, 8],
      [1, 5],
    ]);
  });

  const throws = (): never => {
    throw new Error("no");
  };
  test.each<[own: object, message: string]>([
    [{ split: () => [] }, "split must give a list of at least 1 string for items[0]."],
    [{ split: () => [1] }, "split must give a list of at least 1 string for items[0]."],
    [{ split: throws }, "split failed for items[0]."],
    [{ split: 5 }, "split must be a function."],
    [
      { text: (each: string) => (each === texts[2] ? null : each) },
      "text must give a string for items[2], not null.",
    ],
    [{ text: (each: string) => (each === texts[1] ? throws() : each) }, "text failed for items[1]."],
  ])("%o is refused, in whichever batch it fails, and names the item", async (own, message) => {
    const options = { text: identity, batchSize: 1, concurrency: 1, ...own };
    const error = await failureOf(() => connect(server.url).rerank.items("q", texts, options));
    expect(error.message).toBe(withHint(`[INVALID_ARGUMENT] ${message}`, error));
    expect([error.executed, server.requests]).toEqual(["no", []]);
  });
});

test("continueFrom refuses items whose texts are divided in another way", async () => {
  server.reply((request) =>
    documentsOf(request).includes("c")
      ? { status: 403, json: { code: "PERMISSION_DENIED" } }
      : rankedOf(request),
  );
  const client = connect(server.url);
  const options = { text: String, batchSize: 1, concurrency: 1 };
  const failed = await failureOf(() => client.rerank.items("q", ["ab", "c"], options));
  const { partial: continueFrom } = failed as RerankItemsError<string>;
  server.requests = [];
  const refused = await failureOf(() => client.rerank.items("q", ["a", "bc"], { ...options, continueFrom }));
  expect(refused).toMatchObject({ code: "INVALID_ARGUMENT", argument: "continueFrom" });
  expect(refused.text).toContain("the items");
  expect(server.requests).toHaveLength(0);
});

describe("the hold that the batches share", () => {
  const clock = useTestClock();
  useNoBackoff();

  const items = Array.from({ length: 12 }, (_, index) => `item ${index}`);
  const options = { text: (item: string) => item, batchSize: 1, concurrency: 3 };

  const documentOf = (request: ReceivedRequest): string | undefined => documentsOf(request)[0];

  // Nobody says how many retries there are.
  const client = () => connect(server.url, { maxRetries: undefined });

  const ranked: Reply = { json: { object: "list", model: "m", data: [{ index: 0, relevance_score: 1 }] } };

  test("a Retry-After of one batch holds the others: nothing is sent earlier, and then all are ranked", async () => {
    let isRefused = false;
    server.reply((request) => {
      if (documentOf(request) !== "item 1" || isRefused) return ranked;
      isRefused = true;
      return { status: 429, headers: { "retry-after": "30" } };
    });
    const running = client().rerank.items("q", items, options);
    await clock.waitsFor(30_000);
    await turns(60);
    const before = server.requests.length;
    // Those that were sent with it, and what began before it got a response.
    expect(before).toBeLessThan(6);
    clock.pass(29_999);
    await turns(60);
    expect(server.requests).toHaveLength(before);
    clock.pass(1);
    expect(await running).toHaveLength(12);
    expect(server.requests).toHaveLength(13);
  });

  test("while a refused batch waits, two more places stay empty: who begins at once is refused, too", async () => {
    vi.mocked(Math.random).mockReturnValue(0.5);
    const held: ServerResponse[] = [];
    server.reply((request, response) => {
      const isFirst = server.requests.length <= 4;
      if (isFirst && documentOf(request) === "item 1") return { status: 429 };
      if (isFirst) held.push(response);
      return isFirst ? undefined : ranked;
    });
    const running = client().rerank.items("q", items, { ...options, concurrency: 4 });
    await clock.waitsFor(500);
    await until(() => held.length === 3);
    const respond = (response: ServerResponse) =>
      response.setHeader("content-type", "application/json").end(JSON.stringify(ranked.json));
    for (const response of held.splice(0, 2)) respond(response);
    await turns(60);
    // Two are under way: the one that waits, and one that gets no response.
    expect(server.requests.map(documentOf)).toEqual(["item 0", "item 1", "item 2", "item 3"]);
    clock.pass(500);
    await until(() => server.requests.length === 13);
    expect(server.requests.filter((request) => documentOf(request) === "item 1")).toHaveLength(2);
    for (const response of held) respond(response);
    expect(await running).toHaveLength(12);
  });

  test("batches that a busy service refuses are tried until it takes them, as those of rerankAll are", async () => {
    const refusals = new Map<string | undefined, number>();
    server.reply((request) => {
      const document = documentOf(request);
      const before = refusals.get(document) ?? 0;
      refusals.set(document, before + 1);
      return before < 4 ? { status: 429 } : ranked;
    });
    const { data, attempts } = await client().rerank.items("q", items, options).withResponse();
    expect([data.length, attempts.length, server.requests.length]).toEqual([12, 60, 60]);
  });

  // Also where it says the usual number. One at a time: what is in flight when the call fails reaches the server of a later test.
  test.each([
    ["call", 0],
    ["client", 2],
  ])("maxRetries of the %s is the most retries of each batch: %i", async (of, maxRetries) => {
    server.reply((request) => (documentOf(request) === "item 1" ? { status: 503 } : ranked));
    const own = { maxRetries };
    const ranking = connect(server.url, of === "client" ? own : { maxRetries: undefined });
    const error = await failureOf(() =>
      ranking.rerank.items("q", items, { ...options, concurrency: 1, ...(of === "call" && own) }),
    );
    expect(error).toMatchObject({ code: "UNAVAILABLE", notRetried: "retries-used-up" });
    expect(server.requests.filter((request) => documentOf(request) === "item 1")).toHaveLength(
      1 + maxRetries,
    );
  });
});
