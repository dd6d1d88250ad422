import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { connect, failureOf, transports } from "../support/clients.js";
import { TestClock } from "../support/clock.js";
import { useCountingServer } from "../support/countingServer.js";
import { turns, until } from "../support/turns.js";
import { withHint } from "../support/withHint.js";

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
      withHint("[INVALID_ARGUMENT] Too long (batch 3: items[15] to items[19]).", error),
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
      // Both are answered, once a third had time to come.
      if (held.length === 2) void turns().then(answerHeld);
    });
    const answerHeld = () => {
      const answered = held;
      held = [];
      for (const response of answered) response.end(JSON.stringify({ data, model: "m" }));
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
