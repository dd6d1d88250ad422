import { Agent } from "node:http";
import { inspect } from "node:util";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createRerankingModel } from "../../src/adapters/aiSdk.js";
import { createDocumentCompressor } from "../../src/adapters/langchain.js";
import { type RerankAllOptions, rerankAll } from "../../src/bulk/index.js";
import { type Client, type ClientOptions, createClient, type RerankRequest } from "../../src/index.js";
import { createTestService } from "../../src/testing/index.js";
import { canaryKey, leaksOf } from "../support/canary.js";
import { connect, failureOf, operationCalls, thrownBy, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { textOf } from "../support/withHint.js";

const server = useRecordingServer();
const bytes = new Uint8Array([1]);
const body = { query: "q", documents: ["d"] };
const complete = { baseUrl: "https://api.example.com", apiKey: canaryKey };

describe("createClient refuses", () => {
  const invalid = (text: string, ...all: object[]) =>
    all.map((given) => [given, "INVALID_ARGUMENT", text] as const);
  const range = (text: string, given: object) => [given, "OUT_OF_RANGE", text] as const;
  const near = (known: string, name: string, value: unknown = 1) =>
    [{ [name]: value }, "INVALID_ARGUMENT", `Unknown option ${name}: did you mean ${known}?`] as const;
  const together = (one: string, other: string, given: object) =>
    [given, "INVALID_ARGUMENT", `${one} and ${other} cannot be used together: pass one of the two.`] as const;
  const userAgents = ["two\r\nlines", "é", 7, null].map((userAgent) => ({ userAgent }));
  const keepAlives = ["5000", Number.NaN, null].map((keepAliveMs) => ({ keepAliveMs }));

  test.each([
    ...invalid("headers must be an object.", { headers: "x-a: 1" }),
    ...invalid("headers has a name that HTTP does not allow.", { headers: { "x y": "1" } }),
    ...invalid('headers["x-a"] must be printable ASCII text.', { headers: { "X-A": "é" } }),
    ...invalid("headers may not set host: the client sets it.", { headers: { Host: "h" } }),
    ...invalid("baseUrl is plain http to another machine: the key would go unencrypted.", {
      baseUrl: "http://api.example.com",
    }),
    ...invalid("apiKey must be a string that is not empty.", { apiKey: "" }),
    ...invalid("onAttempt must be a function.", { onAttempt: "log" }),
    ...invalid("timeoutMs must be a number of milliseconds.", { timeoutMs: "5" }),
    range("timeoutMs must be greater than 0, not 0.", { timeoutMs: 0 }),
    range("connectTimeoutMs must be greater than 0, not 0.", { connectTimeoutMs: 0 }),
    ...invalid("maxRetries must be a whole number, not 0.5.", { maxRetries: 0.5 }),
    range("maxRetries must be at least 0, not -1.", { maxRetries: -1 }),
    range("maxRetries must be at most 2, not 20: no failure is retried more often.", { maxRetries: 20 }),
    range("maxConnections must be at least 1, not 0.", { maxConnections: 0 }),
    ...invalid("maxConnections must be a whole number, not 1.5.", { maxConnections: 1.5 }),
    range("keepAliveMs must be at least 0, not -1.", { keepAliveMs: -1 }),
    ...invalid("keepAliveMs must be a whole number, not 1.5.", { keepAliveMs: 1.5 }),
    ...invalid("keepAliveMs must be a whole number.", ...keepAlives),
    ...invalid("userAgent must be printable ASCII text.", ...userAgents),
    ...invalid("rerankModel must be printable ASCII text.", { rerankModel: 7 }),
    ...invalid('accountId contains "/": pass the id alone ("acme"), not a full resource name.', {
      accountId: "accounts/acme",
    }),
    ...invalid(
      'proxy must be a URL such as http://proxy.example.com:3128, or "env".',
      { proxy: "proxy.example.com:3128" },
      { proxy: "socks5://bob:word@proxy" },
    ),
    ...invalid("logger must have the methods error, warn, info, debug, or be a function.", { logger: {} }),
    ...invalid("logLevel must be one of off, error, warn, info, debug.", { logLevel: "DEBUG" }),
    ...invalid("logBodies must be true or false.", { logBodies: "yes" }),
    ...invalid("fetch must be a function.", { fetch: "fetch" }),
    ...invalid(
      "agent must be an agent of node:http or node:https.",
      ...[null, "http://proxy", 1, true, Agent].map((agent) => ({ agent })),
    ),
    ...invalid(
      "dispatcher must have the method dispatch of undici 7 or 8.",
      ...[{}, null, 0, "http://x", { dispatch: 1 }, () => {}].map((dispatcher) => ({ dispatcher })),
    ),
    together("agent", "fetch", { fetch, agent: {} }),
    together("fetch", "proxy", { proxy: "env", fetch }),
    together("agent", "proxy", { proxy: "env", agent: {} }),
    ...Object.entries({
      agent: {},
      proxy: "env",
      fetch,
      keepAliveMs: 0,
      maxConnections: 1,
      connectTimeoutMs: 1,
    }).map(([name, value]) => together("dispatcher", name, { [name]: value, dispatcher: { dispatch() {} } })),
    near("baseUrl", "baseURL"),
    near("baseUrl", "baseURL", undefined),
    near("baseUrl", "base_url"),
    near("timeoutMs", "timeout"),
    near("apiKey", "api_key"),
    near("maxRetries", "retries"),
    near("accountId", "account"),
  ])("%o with %s, and says why", (given, code, text) => {
    const error = thrownBy(() => createClient({ ...complete, ...given } as ClientOptions));
    expect(error).toMatchObject({ code, executed: "no", codeSource: "client" });
    expect(textOf(error)).toBe(`[${code}] ${text}`);
    expect(error.argument?.split("[")[0]).toBe(Object.keys(given)[0]);
  });

  test.each([null, "https://api.example.com"])("%j, which is no object", (options) => {
    const error = thrownBy(() => createClient(options as never));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no", argument: "options" });
  });

  test("a name that is near to none with those there are, and what only a call takes", () => {
    for (const name of ["zzzzzzzzzzzz", "idempotent"]) {
      const error = thrownBy(() => createClient({ ...complete, [name]: true } as ClientOptions));
      expect(error.message).toContain(`Unknown option ${name}: use one of baseUrl, `);
      expect(error.message).toContain("dangerouslyAllowBrowser");
    }
  });
});

describe.each(transports)("over $name withOptions", ({ name, options }) => {
  test("changes what it names and keeps the rest", async () => {
    const client = connect(server.url, { ...options, headers: { "x-team": "search" }, userAgent: "app/1" });
    const other = client.withOptions({ apiKey: "other-key", accountId: "other" });
    // As good as not given.
    const same = client.withOptions({ accountId: undefined, apiKey: undefined });
    for (const one of [other, client, same]) await one.deployments.scale("prod", 1);
    const seen = server.requests.map(({ url, headers }) => [url, headers.authorization, headers["x-team"]]);
    const first = ["/v1/accounts/acme/deployments/prod:scale", `Bearer ${canaryKey}`, "search"];
    expect(seen).toEqual([
      ["/v1/accounts/other/deployments/prod:scale", "Bearer other-key", "search"],
      first,
      first,
    ]);
    expect(server.requests[0]?.headers["user-agent"]).toMatch(/ app\/1$/);
  });

  test("sends through the same transport", async () => {
    await connect(server.url, options).withOptions({ timeoutMs: 5_000 }).deployments.scale("prod", 1);
    // Only fetch adds this header.
    expect("sec-fetch-mode" in server.only.headers).toBe(name === "fetch");
  });

  test.each([
    [{ fetch: globalThis.fetch }, "fetch", "INVALID_ARGUMENT"],
    [{ maxConnections: 1 }, "maxConnections", "INVALID_ARGUMENT"],
    [{ agent: {} }, "agent", "INVALID_ARGUMENT"],
    [{ dispatcher: {} }, "withOptions cannot change dispatcher: the connections", "INVALID_ARGUMENT"],
    [{ timeoutMs: 0 }, "timeoutMs", "OUT_OF_RANGE"],
    [{ timeout: 5 }, "timeout: did you mean timeoutMs?", "INVALID_ARGUMENT"],
  ])("refuses %j: connections are shared, and the rest is checked", (changes, words, code) => {
    const error = thrownBy(() => connect(server.url, options).withOptions(changes as object));
    expect(error).toMatchObject({ code, executed: "no", argument: Object.keys(changes)[0] });
    expect(error.message).toContain(words);
  });
});

describe("names on Object.prototype", () => {
  const added = {
    topN: 1,
    baseUrl: "http://127.0.0.1:1",
    accountId: "evil",
    rerankModel: "evil",
    timeoutMs: -1,
  };
  const evil = { ...added, model: "evil", name: "evil", top_n: "evil", pathSerializer: "evil" };
  afterEach(() => {
    for (const name of Object.keys(evil)) Reflect.deleteProperty(Object.prototype, name);
  });

  describe.each(transports)("over $name", ({ options }) => {
    test.each(operationCalls)("are no options and no fields of $operation", async ({ call }) => {
      const client = connect(server.url, options);
      Object.assign(Object.prototype, evil);
      await call(client, {});
      expect(`${server.only.url} ${server.only.body}`).not.toContain("evil");
    });
  });
});

test.each([
  ["with an account", { accountId: "acme" }, ', accountId: "acme"'],
  ["without one", { accountId: undefined }, ""],
])("a client %s shows where it calls, and never its key", (_what, options, account) => {
  vi.stubEnv("TUNERANK_ACCOUNT_ID", undefined);
  try {
    const client = createClient({ ...complete, baseUrl: "https://api.example.com/v2/", ...options });
    expect(inspect(client)).toBe(`Client { baseUrl: "https://api.example.com/v2"${account} }`);
    expect(inspect({ client })).toContain("https://api.example.com/v2");
    expect(leaksOf(client)).toEqual([]);
    const other = client.withOptions({ accountId: "other" });
    expect(inspect(other)).toBe('Client { baseUrl: "https://api.example.com/v2", accountId: "other" }');
  } finally {
    vi.unstubAllEnvs();
  }
});

describe("a name that is not known, or renamed, is refused before anything is sent", () => {
  const upload = (options: object) => (client: Client) =>
    client.datasets.upload("d", bytes, { name: "f", ...options });
  const scale = (options: object) => (client: Client) => client.deployments.scale("prod", 1, options);
  const items = (options: object) => (client: Client) =>
    client.rerank.items("q", ["d"], { text: String, ...options });
  const compress = (options: object) => (client: Client) => createDocumentCompressor(client, options);
  const rank = (model: object, tunerank: object) => (client: Client) =>
    createRerankingModel(client, "m", model).doRerank({
      documents: { type: "text", values: ["d"] },
      query: "q",
      providerOptions: { tunerank: { ...tunerank } },
    });
  const rerank = (more: object) => (client: Client) => client.rerank({ ...body, ...more } as RerankRequest);
  const service = createTestService;

  test.each<[text: string, use: (client: Client) => unknown]>([
    ["Unknown option repeatable: it is renamed to idempotent.", scale({ repeatable: true })],
    [
      "Unknown option maxHoldMs: it is renamed to maxPauseMs.",
      (client) => rerankAll(client, [], { maxHoldMs: 1 } as RerankAllOptions),
    ],
    ["Unknown option content_type: did you mean contentType?", upload({ content_type: "a/b" })],
    ["Unknown option verifyBytes: ", scale({ verifyBytes: true })],
    ["Unknown option top_n: did you mean topN?", items({ top_n: 1 })],
    ["Unknown option batchsize: did you mean batchSize?", items({ batchsize: 1 })],
    ["Unknown option modle: did you mean model?", items({ modle: 1 })],
    ["body has topN: did you mean top_n?", rerank({ topN: 1 })],
    ["body has top-n: did you mean top_n?", rerank({ "top-n": 1 })],
    ["body has TOP_N: did you mean top_n?", rerank({ TOP_N: 1 })],
    ["body has returnDocuments: did you mean return_documents?", rerank({ returnDocuments: 1 })],
    ["body has Query: did you mean query?", rerank({ Query: 1 })],
    ["api_key: did you mean apiKey?", () => service({ api_key: "k" } as object)],
    [
      "retry_after: did you mean retryAfter?",
      () => service().fail("rerank", { status: 503, retry_after: 1 } as object),
    ],
    ["prot: did you mean port?", () => service().listen({ prot: 0 } as object)],
    ["top_n: did you mean topN?", compress({ top_n: 3 })],
    ["specVersion: did you mean specificationVersion?", rank({ specVersion: "v4" }, {})],
    ["tasks: did you mean task?", rank({}, { tasks: "t" })],
  ])("%s", async (text, use) => {
    const error = await failureOf(async () => use(connect(server.url)));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
    expect(error.message).toContain(text);
    expect(server.requests).toEqual([]);
  });
});

test.each<[argument: string, options: object, requests?: unknown]>([
  ["rate.requestsPerMinute", { rate: { requestsPerMinute: 0 } }],
  ["rate.perMinute", { rate: { perMinute: 0 } }],
  ["maxPauseMs", { maxPauseMs: -1 }],
  ["requests", {}, 1],
])("rerankAll names %s in `argument`", (argument, options, requests = []) => {
  expect(thrownBy(() => rerankAll(connect(server.url), requests as [], options))).toMatchObject({ argument });
});

test("a rerank body's unknown fields pass, also those one letter from a known one", async () => {
  const odd = { ...body, top_k: 1, tasks: ["t"], models: "m" };
  await connect(server.url).rerank(odd);
  expect(JSON.parse(server.only.body.toString())).toEqual(odd);
});

test("what LangChain passes of its own is taken, and not sent", async () => {
  const own = { topN: 3, callbacks: [], verbose: false };
  const compressor = createDocumentCompressor(connect(server.url), own as object);
  await compressor.compressDocuments([{ pageContent: "d", metadata: {} }], "q");
  expect(server.only.body.toString()).not.toContain("callbacks");
});

class Config {
  readonly #url = server.url;
  get baseUrl(): string {
    return this.#url;
  }
  get apiKey(): string {
    return canaryKey;
  }
}

describe("options that are an instance of a class", () => {
  test("are read with their accessors, and refused with one that is no option", async () => {
    class ForCall {
      get headers() {
        return { "x-a": "1" };
      }
    }
    class Other extends Config {
      get timeout(): number {
        return 5;
      }
    }
    const client = connect(server.url);
    await createClient(new Config()).rerank(body);
    await createClient(complete).withOptions(new Config()).rerank(body);
    await client.deployments.scale("prod", 1, new ForCall());
    await client.rerank.items("q", ["d"], Object.assign(new ForCall(), { text: String }));
    await client.datasets.upload("d", bytes, Object.assign(new ForCall(), { name: "f" }));
    const sent = server.requests.map(({ headers }) => headers["x-a"]);
    expect(sent).toEqual([undefined, undefined, "1", "1", "1"]);
    expect(thrownBy(() => createClient(new Other())).message).toContain("timeout: did you mean timeoutMs?");
  });

  const client = () => connect(server.url);
  // Each would be taken for options that say nothing.
  const others: readonly (readonly [name: string, value: object])[] = [
    ["Map", new Map([["timeoutMs", 5]])],
    ["Promise", Promise.resolve({ timeoutMs: 5 })],
    ["Headers", new Headers()],
    ["Error", new Error("x")],
  ];
  const takers: readonly (readonly [what: string, taker: string, call: (value: object) => unknown])[] = [
    ["options", "createClient", (value) => createClient(value)],
    ["options", "withOptions", (value) => client().withOptions(value)],
    ["options", "rerank", (value) => client().rerank(body, value)],
    ["options", "rerank.items", (value) => client().rerank.items("q", ["d"], value as never)],
    ["options", "scale", (value) => client().deployments.scale("prod", 1, value)],
    ["options", "resume", (value) => client().reinforcementFineTuningJobs.resume("j", value)],
    ["options", "upload", (value) => client().datasets.upload("d", bytes, value)],
    ["options", "request", (value) => client().request({ method: "GET", path: "/v1/x" }, value)],
    ["request", "request", (value) => client().request(value as never)],
    ["query", "request", (value) => client().request({ method: "GET", path: "/x", query: value as never })],
    ["options", "rerankAll", (value) => rerankAll(client(), [], value)],
    ["rate", "rerankAll", (value) => rerankAll(client(), [], { rate: value as never })],
    ["options", "createTestService", (value) => createTestService(value)],
    ["failure", "fail", (value) => createTestService().fail("rerank", value)],
  ];

  test.each(
    takers.flatMap((taker) => others.map((other) => [taker[0], taker[1], ...other, taker[2]] as const)),
  )("the %s of %s may not be a %s", async (what, _taker, name, value, call) => {
    const error = await failureOf(async () => call(value));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
    expect(textOf(error)).toBe(`[INVALID_ARGUMENT] ${what} must be a plain object, not ${name}.`);
    expect(server.requests).toEqual([]);
  });
});

test("the mock server passes unknown fields, and responds with 400 to them when it is strict", async () => {
  const extra = { ...body, top_k: 1 };
  const client = (strict?: boolean) =>
    connect("https://service.test", { fetch: createTestService({ strict }).fetch });
  await client().rerank(extra);
  await client(true).rerank(body);
  await client(true).deployments.scale("prod", 1);
  const error = await failureOf(() => client(true).rerank(extra));
  expect(error).toMatchObject({ code: "INVALID_ARGUMENT", httpStatus: 400 });
  expect(error.message).toContain("There is no field top_k.");
  const refused = thrownBy(() => createTestService({ strict: "yes" as unknown as boolean }));
  expect(textOf(refused)).toBe("[INVALID_ARGUMENT] strict must be true or false.");
});
