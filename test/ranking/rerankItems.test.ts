import { afterEach, describe, expect, test } from "vitest";
import type { RerankRequest } from "../../src/index.js";
import { hold } from "../support/bulkRuns.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { TestClock } from "../support/clock.js";
import { useCountingServer } from "../support/countingServer.js";
import { type ReceivedRequest, type Reply, useRecordingServer } from "../support/recordingServer.js";
import { documentsOf, ranked as rankedOf } from "../support/responses.js";
import { turns, until } from "../support/turns.js";
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

  test("merges batches to one order, equal scores by index, and applies topN once to all of them; each names the client's model", async () => {
    server.reply(byWorth);
    const given = things(1, 7, 7, 4, 7, 9, 0);
    const own = connect(server.url, { ...options, rerankModel: "accounts/acme/models/default" });
    const call = own.rerank.items("worth", given, { text, batchSize: 3, concurrency: 2, topN: 5 });
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
    for (const { top_n, model } of server.requests.map(bodyOf))
      expect([top_n, model]).toEqual([undefined, "accounts/acme/models/default"]);
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
});

test("a list that changes while the call runs changes nothing", async () => {
  server.reply(byWorth);
  const given = things(1, 2, 3);
  const call = connect(server.url).rerank.items("q", given, { text, batchSize: 1, concurrency: 1 });
  given.length = 0;
  expect((await call).map(({ item }) => item?.worth)).toEqual([3, 2, 1]);
});

describe("a batch that fails", () => {
  const items = Array.from({ length: 40 }, (_, index) => index);
  const text = (item: number): string => `item ${item}`;
  // One batch after the other, ten items each.
  const inTurn = { text, batchSize: 10, concurrency: 1 };

  const ranked = (request: ReceivedRequest): Reply => rankedOf(request, { model: "m" });

  /** Responds to every batch but the one with item 31, which is the second of its batch. */
  function except(reply: Reply | ((request: ReceivedRequest) => Reply | undefined)): void {
    server.reply((request) => {
      if (!documentsOf(request).includes("item 31")) return ranked(request);
      return typeof reply === "function" ? reply(request) : reply;
    });
  }

  function refused(message: string): Reply {
    return { status: 400, json: { error: { code: "INVALID_ARGUMENT", message } } };
  }

  const done = { number: 1, httpStatus: 200 };
  const unmatched = "The ranking cannot be matched with what was sent";

  describe.each(transports)("a batch of rerank.items that fails, over $name,", ({ options }) => {
    const rank = (more: object = {}) =>
      failureOf(() => connect(server.url, options).rerank.items("q", items, { ...inTurn, ...more }));

    test("says that others ran, and lists the requests of all", async () => {
      except({ ...refused("documents[1] is too long."), headers: { "x-request-id": "r-4" } });
      const error = await rank();
      expect(error).toMatchObject({
        code: "INVALID_ARGUMENT",
        executed: "yes",
        codeSource: "body",
        inferred: false,
        httpStatus: 400,
        requestId: "r-4",
        operation: "rerankDocuments",
      });
      expect(error.attempts).toMatchObject([done, done, done, { httpStatus: 400, code: "INVALID_ARGUMENT" }]);
      expect(server.requests).toHaveLength(4);
    });

    test.each([
      "documents[1] is too long.",
      "documents[0] and documents[9] are alike.",
      "See https://docs.example.com/documents/3",
      "/documents/1: too long",
      "items[3] is no item of yours",
    ])("shows what the service said unchanged, then the batch: %s", async (said) => {
      except(refused(said));
      const error = await rank();
      const text = `${said.endsWith(".") ? said : `${said}.`} This was batch 3, items[30] to items[39].`;
      expect(error.message).toBe(withHint(`[INVALID_ARGUMENT] ${text}`, error));
      expect(error.body).toEqual({ error: { code: "INVALID_ARGUMENT", message: said } });
      expect(error.item).toBeUndefined();
    });

    test("that is the only one did not run when it was rejected, and its text names no batch", async () => {
      server.reply(refused("documents[31] is too long."));
      const error = await rank({ batchSize: undefined });
      expect(error.message).toBe(withHint("[INVALID_ARGUMENT] documents[31] is too long.", error));
      expect(error).toMatchObject({ executed: "no", attempts: [{ number: 1, httpStatus: 400 }] });
    });

    test("has the item in a field if the service rejected a batch of one", async () => {
      except(refused("No."));
      expect(await rank({ batchSize: 1 })).toMatchObject({ item: 31, code: "INVALID_ARGUMENT" });
      except({ status: 404, json: { code: "NOT_FOUND" } });
      expect((await rank({ batchSize: 1 })).item).toBeUndefined();
    });

    test.each<[what: string, data: unknown, message: string, problem?: string]>([
      [
        "past its batch",
        [{ index: 10, relevance_score: 1 }],
        "data[0].index is outside the list of 10 documents (items[30] to items[39])",
      ],
      [
        "that is there twice",
        [
          { index: 1, relevance_score: 1 },
          { index: 1, relevance_score: 1 },
        ],
        "index 1 is there twice (items[31])",
      ],
      ["that is missing", [{ index: 0, relevance_score: 1 }], "index 1 is missing (items[31])"],
      [
        "of another document",
        [{ index: 1, relevance_score: 1, document: "x" }],
        "the document of index 1 is another (items[31])",
      ],
      [
        "without a score",
        [{ index: 1 }],
        "data[0].relevance_score (items[31]) is missing or not valid",
        "The response is not the JSON object that the OpenAPI document describes",
      ],
    ])("for an index %s names the item", async (_what, data, message, problem = unmatched) => {
      except({ json: { data, model: "m" } });
      const error = await rank();
      expect(error.message).toBe(withHint(`[INTERNAL] ${problem}: ${message}.`, error));
      expect(error).toMatchObject({ executed: "yes", attempts: [done, done, done, { code: "INTERNAL" }] });
      expect(error.item).toBe(message.startsWith("data") ? undefined : 31);
    });

    test("is unknown when its connection was lost and no other ran, and yes when another did", async () => {
      const lost = (worst: (request: ReceivedRequest) => boolean): void =>
        server.reply((request, response) => {
          if (!worst(request)) return ranked(request);
          response.destroy();
          return undefined;
        });
      lost((request) => documentsOf(request).includes("item 0"));
      expect(await rank()).toMatchObject({ code: "UNAVAILABLE", executed: "unknown", attempts: [{}] });
      lost((request) => documentsOf(request).includes("item 10"));
      expect(await rank()).toMatchObject({ code: "UNAVAILABLE", executed: "yes", attempts: [done, {}] });
    });

    test("lists its own repeats as well", async () => {
      // A 401 is repeated at once where the key may be another.
      except({ status: 401, json: { message: "no" } });
      const client = connect(server.url, { ...options, apiKey: () => "another-key" });
      const error = await failureOf(() => client.rerank.items("q", items, { ...inTurn, maxRetries: 1 }));
      expect(error).toMatchObject({ code: "UNAUTHENTICATED", executed: "yes" });
      expect(error.attempts.map(({ httpStatus }) => httpStatus)).toEqual([200, 200, 200, 401, 401]);
    });

    test("because the caller aborted says that others ran", async () => {
      const controller = new AbortController();
      except(() => {
        controller.abort(new Error("enough"));
        return undefined;
      });
      const error = await rank({ signal: controller.signal });
      expect(error).toMatchObject({ code: "CANCELLED", executed: "yes" });
      expect(error.cause).toMatchObject({ message: "enough" });
      expect(error.attempts).toMatchObject([done, done, done, { code: "CANCELLED" }]);
    });

    test("because its texts could not be had again says that others ran", async () => {
      server.reply(ranked);
      const asked = new Map<number, number>();
      const onceOnly = (item: number): string => {
        asked.set(item, (asked.get(item) ?? 0) + 1);
        if (item === 31 && asked.get(item) === 2) throw new Error("gone");
        return text(item);
      };
      const error = await rank({ text: onceOnly });
      expect(error.message).toBe(withHint("[INVALID_ARGUMENT] text failed for items[31].", error));
      expect(error).toMatchObject({ executed: "yes", operation: "rerankDocuments" });
      expect(error.cause).toMatchObject({ message: "gone" });
      expect(error.attempts).toMatchObject([done, done, done]);
      expect(server.requests).toHaveLength(3);
    });
  });
});

describe("a run that is cancelled", () => {
  const whole = useRecordingServer();
  const server = useCountingServer();
  const clock = new TestClock();
  afterEach(() => clock.remove());
  const items = Array.from({ length: 50 }, (_, index) => index);
  const text = (item: number): string => `item ${item}`;

  describe.each(transports)("batches of rerank.items over $name", ({ options }) => {
    test("one that fails ends those under way, and the rest are never sent", async () => {
      let begun = 0;
      let givenUp = 0;
      server.listen((request, response) => {
        request.resume();
        // The first three wait for ever: only their sender can end them.
        if (++begun < 4) response.on("close", () => givenUp++);
        else response.writeHead(400).end('{"code":"INVALID_ARGUMENT","message":"Too long."}');
      });
      const client = connect(server.url, options);
      const call = () => client.rerank.items("q", items, { text, batchSize: 5, concurrency: 4 });
      const error = await failureOf(call);
      // The one was refused; those that were cancelled may have run.
      expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "unknown", httpStatus: 400 });
      expect(error.attempts.map(({ code }) => code).sort()).toEqual([
        "CANCELLED",
        "CANCELLED",
        "CANCELLED",
        "INVALID_ARGUMENT",
      ]);
      expect(error.message).toBe(
        withHint("[INVALID_ARGUMENT] Too long. This was batch 3, items[15] to items[19].", error),
      );
      await until(() => givenUp === 3);
      // Whatever comes next is another call.
      await failureOf(() => client.rerank({ query: "q", documents: ["d"] }));
      expect(begun).toBe(5);
      await client.close();
    });

    test("the caller's signal ends them all", async () => {
      const controller = new AbortController();
      server.listen((request) => {
        request.resume();
        if (server.used.length === 3) controller.abort(new Error("enough"));
      });
      const client = connect(server.url, options);
      const error = await failureOf(() =>
        client.rerank.items("q", items, { text, batchSize: 5, concurrency: 3, signal: controller.signal }),
      );
      expect(error).toMatchObject({ code: "CANCELLED", executed: "unknown" });
      expect((error.cause as Error).message).toBe("enough");
      await server.allClosed();
      expect(server.used).toHaveLength(3);
    });

    test("timeoutMs is for all of them together", async () => {
      clock.install();
      const data = [{ index: 0, relevance_score: 1 }];
      // Three batches take 100 ms each; the fourth has 50 left.
      server.listen((request, response) => {
        request.resume().on("end", () => {
          if (server.used.length === 4) return clock.pass(50);
          clock.pass(100);
          return response.end(JSON.stringify({ data, model: "m" }));
        });
      });
      const client = connect(server.url, options);
      const error = await failureOf(() =>
        client.rerank.items("q", items, { text, batchSize: 1, concurrency: 1, timeoutMs: 350 }),
      );
      expect(error).toMatchObject({ code: "DEADLINE_EXCEEDED" });
      expect(server.used).toHaveLength(4);
      await client.close();
    });

    test("no more than concurrency are under way at once", async () => {
      const held = hold(whole);
      const call = connect(whole.url, options).rerank.items("q", items.slice(0, 6), {
        ...{ text, batchSize: 1, concurrency: 2 },
      });
      for (let sent = 2; sent <= 6; sent += 2) {
        await until(() => held.length === 2);
        await turns();
        expect(whole.requests).toHaveLength(sent);
        for (const respond of held.splice(0)) respond();
      }
      expect(await call).toHaveLength(6);
    });
  });

  test("a signal aborted before sends nothing", async () => {
    const error = await failureOf(() =>
      connect(server.url).rerank.items("q", items, { text, signal: AbortSignal.abort() }),
    );
    expect(error).toMatchObject({ code: "CANCELLED", executed: "no" });
    expect(server.used).toHaveLength(0);
  });
});
