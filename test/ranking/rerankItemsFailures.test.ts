import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { connect, failureOf, transports } from "../support/clients.js";
import { TestClock } from "../support/clock.js";
import { useCountingServer } from "../support/countingServer.js";
import { type ReceivedRequest, type Reply, useRecordingServer } from "../support/recordingServer.js";
import { documentsOf } from "../support/responses.js";
import { turns, until } from "../support/turns.js";
import { withHint } from "../support/withHint.js";

describe("a batch that fails", () => {
  const server = useRecordingServer();
  const items = Array.from({ length: 40 }, (_, index) => index);
  const text = (item: number): string => `item ${item}`;
  // One batch after the other, ten items each.
  const inTurn = { text, batchSize: 10, concurrency: 1 };

  function ranked(request: ReceivedRequest): Reply {
    const data = documentsOf(request).map((_, index) => ({ index, relevance_score: index }));
    return { json: { object: "list", model: "m", data } };
  }

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

    test.each<[what: string, data: unknown, message: string]>([
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
    ])("for an index %s names the item", async (_what, data, message) => {
      except({ json: { data, model: "m" } });
      const error = await rank();
      expect(error.message).toBe(
        withHint(`[INTERNAL] The ranking cannot be matched with what was sent: ${message}.`, error),
      );
      expect(error).toMatchObject({ executed: "yes", attempts: [done, done, done, { code: "INTERNAL" }] });
      expect(error.item).toBe(message.startsWith("data") ? undefined : 31);
    });

    test("for an index without a score names the item, too", async () => {
      except({ json: { data: [{ index: 1 }], model: "m" } });
      const error = await rank();
      const what = "data[0].relevance_score (items[31]) is missing or not valid";
      const whole = `[INTERNAL] The response is not the JSON object that the OpenAPI document describes: ${what}.`;
      expect(error.message).toBe(withHint(whole, error));
      expect(error).toMatchObject({ executed: "yes", attempts: [done, done, done, { code: "INTERNAL" }] });
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
      const data = [0, 1, 2, 3, 4].map((index) => ({ index, relevance_score: 1 }));
      let most = 0;
      let held: ServerResponse[] = [];
      server.listen((request, response) => {
        request.resume();
        most = Math.max(most, held.push(response));
        // Both get a response, once a third had time to come.
        if (held.length === 2) void turns().then(respondToHeld);
      });
      const respondToHeld = () => {
        const responded = held;
        held = [];
        for (const response of responded) response.end(JSON.stringify({ data, model: "m" }));
      };
      const client = connect(server.url, options);
      await client.rerank.items("q", items, { text, batchSize: 5, concurrency: 2 });
      expect(most).toBe(2);
      expect(server.used).toHaveLength(10);
      await client.close();
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
