// The options `rate` and `concurrency` of a client: a cap for all of its calls.
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { type RerankAllOptions, rerankAll } from "../../src/bulk/index.js";
import { type Client, type ClientOptions, createClient } from "../../src/index.js";
import { canaryKey } from "../support/canary.js";
import { failureOf, thrownBy } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { root, run } from "../support/project.js";
import { ranked } from "../support/rankings.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { turns, until } from "../support/turns.js";

const server = useRecordingServer();
const clock = useTestClock();

const connect = (options: ClientOptions): Client =>
  createClient({ baseUrl: server.url, apiKey: canaryKey, accountId: "acme", ...options });
const body = { query: "q", documents: ["a"] };
const perMinute = (requestsPerMinute: number) => ({ rate: { requestsPerMinute } });

/** Holds every response back, and counts the requests that are at the server at once. */
function hold() {
  const held = { now: 0, most: 0, respond: [] as (() => void)[] };
  server.reply((request, response) => {
    held.now += 1;
    held.most = Math.max(held.most, held.now);
    held.respond.push(() => {
      held.now -= 1;
      response.end(request.url.endsWith("rerank") ? JSON.stringify(ranked(request).json) : '{"id":"f"}');
    });
    return undefined;
  });
  const all = async (calls: Promise<unknown>): Promise<void> => {
    let isOver = false;
    const over = calls.finally(() => {
      isOver = true;
    });
    over.catch(() => {});
    while (!isOver) {
      await turns(3);
      held.respond.shift()?.();
    }
    await over;
  };
  return Object.assign(held, { all });
}

async function bulk(client: Client, count: number, options: RerankAllOptions<number> = {}): Promise<void> {
  const requests = Array.from({ length: count }, (_, id) => ({ id, ...body }));
  for await (const { error } of rerankAll(client, requests, options)) expect(error).toBeUndefined();
}

/** Lets time pass in small steps, each once what has been sent can have its response, until the promise settles. */
async function passing<T>(promise: Promise<T>): Promise<T> {
  let isOver = false;
  const over = promise.finally(() => {
    isOver = true;
  });
  over.catch(() => {});
  while (!isOver) {
    await turns(30);
    clock.pass(250);
  }
  return over;
}

const items = (client: Client, count: number, options = {}) =>
  client.rerank.items("q", Array.from({ length: count }, String), { text: String, batchSize: 1, ...options });

describe("concurrency", () => {
  test("holds for all calls of a client and of those made from it", async () => {
    const held = hold();
    const client = connect({ concurrency: 2 });
    const other = client.withOptions({ timeoutMs: 5_000 });
    const calls = [client, other, client, other].flatMap((each) => [
      each.rerank(body),
      each.deployments.scale("prod", 1),
      each.request({ method: "GET", path: "/v1/jobs" }),
      each.datasets.upload("reviews", new Uint8Array(3), { name: "a" }),
      each.rerank.items("q", ["a"], { text: String }),
    ]);
    await until(() => held.now === 2);
    await turns();
    expect(held.now).toBe(2);
    await held.all(Promise.all(calls));
    expect([held.most, server.requests.length]).toEqual([2, 20]);
  });

  test.each([
    ["rerankAll", (client: Client) => bulk(client, 12)],
    ["rerankAll with a larger limit", (client: Client) => bulk(client, 12, { concurrency: 8 })],
    ["rerank.items", (client: Client) => items(client, 12)],
    ["rerank.items with a larger limit", (client: Client) => items(client, 12, { concurrency: 8 })],
  ])("holds for %s together with single calls, which take turns", async (_, run) => {
    const held = hold();
    const client = connect({ concurrency: 3 });
    const single: number[] = [];
    const singles = Array.from({ length: 3 }, async () => {
      await client.rerank({ ...body, query: "single" });
      single.push(server.requests.length);
    });
    await held.all(Promise.all([run(client), run(client.withOptions({ accountId: "b" })), ...singles]));
    expect([held.most, server.requests.length]).toEqual([3, 27]);
    // Not after all that the runs have to send.
    expect(Math.max(...single)).toBeLessThan(20);
  });

  test("a run's own smaller limit holds", async () => {
    const held = hold();
    await held.all(bulk(connect({ concurrency: 3 }), 9, { concurrency: 2 }));
    expect(held.most).toBe(2);
  });

  test('"auto" begins with four, and grows while the service keeps up', async () => {
    const held = hold();
    const client = connect({ concurrency: "auto" });
    const calls = Promise.all(Array.from({ length: 60 }, () => client.rerank(body)));
    await until(() => held.now === 4);
    await turns();
    expect(held.now).toBe(4);
    await held.all(calls);
    expect(held.most).toBeGreaterThan(4);
  });

  test("a retry waits for its turn, and an outage ends each call as without a cap", async () => {
    server.reply({ status: 503, json: { code: "UNAVAILABLE" } });
    const client = connect({ concurrency: 1, maxRetries: 1 });
    const calls = Promise.all(Array.from({ length: 9 }, () => failureOf(() => client.rerank(body))));
    const failures = await passing(calls);
    expect(failures.map(({ code, attempts }) => `${code} ${attempts.length}`)).toEqual(
      Array.from({ length: 9 }, () => "UNAVAILABLE 2"),
    );
  });

  test("what the service asks one call to wait, all wait", async () => {
    let isLimited = true;
    server.reply((request) => {
      if (!isLimited) return ranked(request);
      isLimited = false;
      return { status: 429, headers: { "retry-after": "20" }, json: { code: "RESOURCE_EXHAUSTED" } };
    });
    const client = connect({ concurrency: 1 });
    const calls = Promise.all([client.rerank(body), client.rerank(body)]);
    await until(() => server.requests.length === 1);
    await turns();
    clock.pass(19_999);
    await turns();
    expect(server.requests).toHaveLength(1);
    await passing(calls);
    expect(server.requests).toHaveLength(3);
  });
});

describe("rate", () => {
  test("spreads all calls evenly", async () => {
    const times: number[] = [];
    server.reply((request) => {
      times.push(clock.now);
      return ranked(request);
    });
    const client = connect(perMinute(60));
    const other = client.withOptions({ accountId: "b" });
    const start = clock.now;
    await passing(Promise.all([client.rerank(body), bulk(other, 3), items(client, 3), other.rerank(body)]));
    expect(times).toHaveLength(8);
    for (const [index, time] of times.entries()) {
      expect(time - start).toBeGreaterThanOrEqual(index * 980);
      expect(time - start).toBeLessThanOrEqual(index * 1_000 + 1_000);
    }
  });

  test("counts the tokens that responses report", async () => {
    server.reply((request) => ranked(request, { usage: { prompt_tokens: 1_000, total_tokens: 1_000 } }));
    const client = connect({ rate: { tokensPerMinute: 60_000 } });
    await client.rerank(body);
    const second = client.rerank(body);
    await turns();
    clock.pass(900);
    await turns();
    expect(server.requests).toHaveLength(1);
    clock.pass(100);
    await second;
  });
});

describe("a call that waits for its turn", () => {
  test.each([
    ["its deadline", "DEADLINE_EXCEEDED", () => clock.pass(1_000)],
    ["an abort", "CANCELLED", (_: Client, abort: () => void) => abort()],
    ["close()", "CANCELLED", (client: Client) => void client.close()],
  ])("ends at once with %s, and nothing is sent", async (_what, code, end) => {
    const held = hold();
    const client = connect({ concurrency: 1 });
    const first = client.withOptions({}).rerank(body);
    await until(() => held.now === 1);
    const controller = new AbortController();
    const options = { signal: controller.signal, timeoutMs: 1_000 };
    const waiting = failureOf(() => client.rerank(body, options));
    await turns();
    end(client, () => controller.abort());
    expect(await waiting).toMatchObject({ code, executed: "no", attempts: [], operation: "rerankDocuments" });
    for (const respond of held.respond) respond();
    await first;
    await turns();
    expect(server.requests).toHaveLength(1);
  });

  test("leaves its turn to the next", async () => {
    const held = hold();
    const client = connect({ concurrency: 1 });
    const first = client.rerank(body);
    await until(() => held.now === 1);
    const controller = new AbortController();
    const second = failureOf(() => client.rerank(body, { signal: controller.signal }));
    const third = client.rerank(body);
    await turn();
    controller.abort();
    await second;
    await held.all(Promise.all([first, third]));
    expect(server.requests).toHaveLength(2);
  });
});

test.each<[string, object]>([
  ["concurrency", { concurrency: 0 }],
  ["concurrency", { concurrency: 1.5 }],
  ["concurrency", { concurrency: "many" }],
  ["concurrency.max", { concurrency: { max: 0 } }],
  ["concurrency.most", { concurrency: { most: 1 } }],
  ["rate", { rate: 60 }],
  ["rate.requestsPerMinute", { rate: { requestsPerMinute: 0 } }],
  ["rate.tokensPerMinute", { rate: { tokensPerMinute: "9" } }],
  ["rate.perSecond", { rate: { perSecond: 1 } }],
])("createClient refuses a %s as rerankAll does: %j", (argument, options) => {
  const ofRun = thrownBy(() => rerankAll(connect({}), [], options));
  const ofClient = thrownBy(() => connect(options));
  expect(ofClient).toMatchObject({ argument, code: ofRun.code, text: ofRun.text });
});

test.each([["rate", perMinute(1)] as const, ["concurrency", { concurrency: 1 }] as const])(
  "withOptions cannot change %s, which all clients made from one share",
  (argument, options) => {
    const error = thrownBy(() => connect(options).withOptions(options as object));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", argument });
  },
);

test("a client with a rate does not keep the process alive", async () => {
  const program = `import { createClient } from "tunerank";
    const client = createClient({ baseUrl: ${JSON.stringify(server.url)}, apiKey: "k".repeat(9), rate: { requestsPerMinute: 0.01 } });
    await client.rerank({ query: "q", documents: ["a"] });`;
  server.reply((request) => ranked(request));
  const given = ["--conditions=tunerank-source", "--import", "tsx", "--input-type=module", "--eval", program];
  const { exitCode } = await run(process.execPath, given, { cwd: root });
  expect([exitCode, server.requests.length]).toEqual([0, 1]);
});
