import { beforeEach, describe, expect, test } from "vitest";
import { rerankAll } from "../../src/bulk/index.js";
import type { Client, ClientOptions } from "../../src/index.js";
import { countClientSockets } from "../support/clientSockets.js";
import { connect as connectAny, failureOf, operationCalls } from "../support/clients.js";
import { respond, useCountingServer } from "../support/countingServer.js";
import { goodText } from "../support/responses.js";
import { runScript } from "../support/script.js";
import { until } from "../support/turns.js";

const server = useCountingServer();

// Clients of the same address and options share their sockets; those of another test had perhaps the same port.
let maxConnections = 2000;
beforeEach(() => {
  maxConnections += 1;
});
// Idle ones end by close() alone: time would end them too late.
const connect = (options?: ClientOptions) =>
  connectAny(server.url, { maxConnections, keepAliveMs: 1_000_000, ...options });

const rerank = (client: Client) => client.rerank({ query: "q", documents: ["d"] });

/** Lets requests wait from now on; `reply` responds to those that came, and to all that come later. */
function hold(text = goodText): { arrived: (count: number) => Promise<void>; reply: () => void } {
  const held: (() => void)[] = [];
  server.listen((request, response) => {
    request.on("error", () => {}).on("end", () => held.push(() => response.end(text)));
    request.resume();
  });
  return {
    arrived: (count) => until(() => held.length >= count),
    reply() {
      server.listen(respond);
      for (const respond of held.splice(0)) respond();
    },
  };
}

describe("a client made with withOptions that is closed", () => {
  test.each(operationCalls)("leaves $operation of the first client and of a sister", async ({ call }) => {
    const first = connect();
    const sister = first.withOptions({ timeoutMs: 50_000 });
    const { arrived, reply } = hold();
    const calls = [call(first), call(sister)].map((running) => running.withResponse());
    await arrived(2);
    await first.withOptions({ timeoutMs: 5_000 }).close();
    await first.withOptions({}).withOptions({ accountId: "other" }).close();
    reply();
    for (const { attempts } of await Promise.all(calls)) expect(attempts).toHaveLength(1);
    expect(server.used).toHaveLength(2);
    await first.close();
    await sister.close();
    await server.allClosed();
  });

  test("ends its own calls, also those that wait for a socket, and nobody else's", async () => {
    const first = connect({ maxConnections: 2 });
    const child = first.withOptions({ accountId: "other" });
    const { arrived, reply } = hold();
    const mine = [1, 2].map(() => failureOf(() => rerank(child)));
    await arrived(2);
    mine.push(failureOf(() => rerank(child)));
    const theirs = [rerank(first), rerank(first.withOptions({}))];
    await child.close();
    const failed = await Promise.all(mine);
    expect(failed.map(({ code, executed }) => `${code} ${executed}`)).toEqual([
      "CANCELLED unknown",
      "CANCELLED unknown",
      "CANCELLED no",
    ]);
    await arrived(4);
    reply();
    await Promise.all(theirs);
    expect(server.used).toHaveLength(4);
    await first.close();
    await server.allClosed();
  });

  test("leaves the connections that the first client, or a sister, has used", async () => {
    const first = connect();
    const [one, other] = [first.withOptions({}), first.withOptions({})];
    await rerank(one);
    await rerank(other);
    await one.close();
    await rerank(other);
    await rerank(first);
    await other.close();
    await rerank(first);
    expect(server.used).toEqual([1, 1, 1, 1, 1]);
    const closed = server.allClosed();
    await first.close();
    await closed;
  });

  test("can be used again, and is then closed again", async () => {
    const child = connect().withOptions({});
    await rerank(child);
    await child.close();
    await server.allClosed();
    await rerank(child);
    await rerank(child);
    expect(server.used).toEqual([1, 2, 2]);
    const closed = server.allClosed();
    await child.close();
    await closed;
  });
});

describe("the first client's close()", () => {
  test("ends the idle connections of clients made of it that were never closed", async () => {
    const first = connect();
    await Promise.all(Array.from({ length: 8 }, () => rerank(first.withOptions({ timeoutMs: 5_000 }))));
    expect(server.open.size).toBe(8);
    const closed = server.allClosed();
    await first.close();
    await closed;
    expect(server.open.size).toBe(0);
  });

  test.each(operationCalls)(
    "leaves $operation of a client made of it; its connection ends with it",
    async ({ call }) => {
      const first = connect();
      const child = first.withOptions({ timeoutMs: 50_000 });
      await rerank(first);
      const { arrived, reply } = hold();
      const own = failureOf(() => call(first));
      await arrived(1);
      const running = call(child).withResponse();
      await arrived(2);
      await first.close();
      expect(await own).toMatchObject({ code: "CANCELLED", executed: "unknown" });
      const closed = server.allClosed();
      reply();
      expect((await running).attempts).toHaveLength(1);
      await closed;
      expect(server.open.size).toBe(0);
    },
  );

  test("leaves those that wait for a connection: no more are open than may be, and none at the end", async () => {
    const sockets = countClientSockets();
    const first = connect({ maxConnections: 2 });
    const child = first.withOptions({});
    const { arrived, reply } = hold();
    const calls = Array.from({ length: 6 }, () => rerank(child));
    await arrived(2);
    await first.close();
    reply();
    await Promise.all(calls);
    await until(() => server.open.size === 0);
    expect(server.used).toHaveLength(6);
    expect(sockets.most).toBe(2);
  });

  test("leaves a run over many requests and over batches of a client made of it", async () => {
    const first = connect();
    const child = first.withOptions({});
    const { arrived, reply } = hold('{"data":[{"index":0,"relevance_score":1}]}');
    const items = child.rerank.items("q", ["a", "b"], { batchSize: 1, text: String });
    items.catch(() => {});
    const results = rerankAll(child, [{ id: 1, query: "q", documents: ["d"] }]);
    const next = results[Symbol.asyncIterator]().next();
    await arrived(3);
    await first.close();
    await first.withOptions({}).close();
    reply();
    expect((await next).value).toMatchObject({ id: 1, response: {} });
    expect(await items).toHaveLength(2);
    await child.close();
    await server.allClosed();
  });

  test("counts clients of the same address and options that were created apart", async () => {
    const [first, apart] = [connect(), connect()];
    const children = Array.from({ length: 3 }, () => first.withOptions({}));
    for (const client of [first, apart, ...children]) await rerank(client);
    await first.close();
    for (const child of children) await child.close();
    await rerank(apart);
    expect(server.connections).toBe(1);
    // One that is used again counts again.
    await rerank(children[0] as Client);
    await apart.close();
    await rerank(children[0] as Client);
    expect(server.connections).toBe(1);
    const closed = server.allClosed();
    await children[0]?.close();
    await closed;
  });
});

test("over fetch close() ends the calls of its own client alone", async () => {
  const first = connect({ fetch: globalThis.fetch });
  const { arrived, reply } = hold();
  const running = [rerank(first), rerank(first.withOptions({}))];
  const child = first.withOptions({});
  const own = failureOf(() => rerank(child));
  await arrived(3);
  await child.close();
  expect(await own).toMatchObject({ code: "CANCELLED", executed: "unknown" });
  reply();
  await Promise.all(running);
});

test("10,000 clients made with withOptions and never closed are collected, used or not", async () => {
  const script = `
    import { setImmediate as turn } from "node:timers/promises";
    import { createClient } from "./src/index.ts";
    const first = createClient({ baseUrl: process.env.URL, maxConnections: 1 });
    let collected = 0;
    const registry = new FinalizationRegistry(() => (collected += 1));
    async function make(number) {
      const child = first.withOptions({ headers: { "x-request": String(number) } });
      registry.register(child);
      // A call of each would take minutes.
      if (number % 50 === 0) await child.rerank({ query: "q", documents: ["d"] });
    }
    for (let number = 0; number < 10_000; number += 1) await make(number);
    // One that stays would keep this process busy until its test ends.
    while (collected < 10_000) {
      globalThis.gc();
      await turn();
    }
    await first.close();
    console.log("done");
  `;
  const { stdout, stderr } = await runScript(script, { URL: server.url }, { args: ["--expose-gc"] });
  expect({ stdout, stderr }).toEqual({ stdout: "done\n", stderr: "" });
  expect(server.used).toHaveLength(200);
  expect(server.connections).toBe(1);
});
