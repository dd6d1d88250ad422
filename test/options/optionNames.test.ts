import { describe, expect, test } from "vitest";
import { createRerankingModel } from "../../src/adapters/aiSdk.js";
import { createDocumentCompressor } from "../../src/adapters/langchain.js";
import { type RerankAllOptions, rerankAll } from "../../src/bulk/index.js";
import { type CallOptions, type ClientOptions, createClient, type RerankRequest } from "../../src/index.js";
import { createTestService } from "../../src/testing/index.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf, operationCalls, thrownBy } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { textOf } from "../support/withHint.js";

const server = useRecordingServer();
const bytes = new Uint8Array([1]);
const complete = { baseUrl: "https://api.example.com", apiKey: canaryKey };

test.each([
  ["baseURL", "baseUrl"],
  ["base_url", "baseUrl"],
  ["timeout", "timeoutMs"],
  ["api_key", "apiKey"],
  ["retries", "maxRetries"],
  ["account", "accountId"],
])("createClient refuses %s and names %s", (name, known) => {
  const error = thrownBy(() => createClient({ ...complete, [name]: 1 } as ClientOptions));
  expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
  expect(textOf(error)).toBe(`[INVALID_ARGUMENT] Unknown option ${name}: did you mean ${known}?`);
});

test("createClient refuses a name that is near to none with those there are", () => {
  const error = thrownBy(() => createClient({ ...complete, zzzzzzzzzzzz: 1 } as ClientOptions));
  expect(error.message).toContain("Unknown option zzzzzzzzzzzz: use one of baseUrl, ");
  expect(error.message).toContain("dangerouslyAllowBrowser");
});

test("createClient refuses a misspelt name that is undefined, and what only a call takes", () => {
  expect(
    thrownBy(() => createClient({ ...complete, baseURL: undefined } as ClientOptions)).message,
  ).toContain("did you mean baseUrl?");
  expect(thrownBy(() => createClient({ ...complete, idempotent: true } as ClientOptions)).message).toContain(
    "Unknown option idempotent",
  );
});

test("an option that was renamed is refused with its new name", async () => {
  const error = await failureOf(() =>
    connect(server.url).deployments.scale("prod", 0, { repeatable: true } as CallOptions),
  );
  expect(error.message).toContain("Unknown option repeatable: it is renamed to idempotent.");
  expect(
    thrownBy(() => rerankAll(connect(server.url), [], { maxHoldMs: 1 } as RerankAllOptions)).message,
  ).toContain("Unknown option maxHoldMs: it is renamed to maxPauseMs.");
  expect(server.requests).toEqual([]);
});

test("withOptions refuses a name that is not known", () => {
  const error = thrownBy(() => connect(server.url).withOptions({ timeout: 5 } as ClientOptions));
  expect(error.message).toContain("timeout: did you mean timeoutMs?");
});

describe("before anything is sent", () => {
  test.each(operationCalls)("$operation refuses timeout and names timeoutMs", async ({ call, operation }) => {
    const error = await failureOf(() => call(connect(server.url), { timeout: 5 } as CallOptions));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no", operation });
    expect(error.message).toContain("timeout: did you mean timeoutMs?");
    expect(server.requests).toEqual([]);
  });

  test("an upload refuses filename, and another call the options of an upload", async () => {
    const client = connect(server.url);
    const upload = () =>
      client.datasets.upload("d", bytes, { name: "f", content_type: "a/b" } as CallOptions);
    expect((await failureOf(upload)).message).toContain("content_type: did you mean contentType?");
    const scale = () => client.deployments.scale("prod", 1, { verifyBytes: true } as CallOptions);
    expect((await failureOf(scale)).message).toContain("Unknown option verifyBytes");
    expect(server.requests).toEqual([]);
  });

  test.each([
    ["top_n", "topN"],
    ["batchsize", "batchSize"],
    ["modle", "model"],
  ])("items refuses %s and names %s", async (name, known) => {
    const options = { text: String, [name]: 1 };
    const error = await failureOf(() => connect(server.url).rerank.items("q", ["d"], options));
    expect(textOf(error)).toBe(`[INVALID_ARGUMENT] Unknown option ${name}: did you mean ${known}?`);
    expect(server.requests).toEqual([]);
  });

  test.each([
    ["topN", "top_n"],
    ["top-n", "top_n"],
    ["TOP_N", "top_n"],
    ["returnDocuments", "return_documents"],
    ["Query", "query"],
  ])("a rerank body refuses %s, another spelling of %s", async (name, known) => {
    const body = { query: "q", documents: ["d"], [name]: 1 } as RerankRequest;
    const error = await failureOf(() => connect(server.url).rerank(body));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
    expect(textOf(error)).toBe(`[INVALID_ARGUMENT] body has ${name}: did you mean ${known}?`);
    expect(server.requests).toEqual([]);
  });
});

test("a rerank body's unknown fields pass, also those one letter from a known one", async () => {
  const body = { query: "q", documents: ["d"], top_k: 1, tasks: ["t"], models: "m" };
  await connect(server.url).rerank(body);
  expect(JSON.parse(server.only.body.toString())).toEqual(body);
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
  test("are read with their accessors", async () => {
    await createClient(new Config()).rerank({ query: "q", documents: ["d"] });
    await createClient({ ...complete })
      .withOptions(new Config())
      .rerank({ query: "q", documents: ["d"] });
    class ForCall {
      get headers() {
        return { "x-a": "1" };
      }
    }
    await connect(server.url).deployments.scale("prod", 1, new ForCall());
    const items = Object.assign(new ForCall(), { text: String });
    await connect(server.url).rerank.items("q", ["d"], items);
    await connect(server.url).datasets.upload("d", bytes, Object.assign(new ForCall(), { name: "f" }));
    expect(server.requests.map(({ headers }) => headers["x-a"])).toEqual([
      undefined,
      undefined,
      "1",
      "1",
      "1",
    ]);
  });

  test("are refused with an accessor that is no option", () => {
    class Other extends Config {
      get timeout(): number {
        return 5;
      }
    }
    expect(thrownBy(() => createClient(new Other())).message).toContain("timeout: did you mean timeoutMs?");
  });

  const client = () => connect(server.url);
  const body = { query: "q", documents: ["d"] };
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

test("names on Object.prototype are no options and no fields", async () => {
  Object.assign(Object.prototype, { topN: 1 });
  await connect(server.url)
    .rerank({ query: "q", documents: ["d"] }, {})
    .finally(() => Reflect.deleteProperty(Object.prototype, "topN"));
  expect(server.requests).toHaveLength(1);
});

describe("the mock server", () => {
  test.each([
    [
      "createTestService",
      () => createTestService({ api_key: "k" } as object),
      "api_key: did you mean apiKey?",
    ],
    [
      "fail",
      () => createTestService().fail("rerank", { status: 503, retry_after: 1 } as object),
      "retry_after: did you mean retryAfter?",
    ],
  ])("%s refuses a name that is not known", (_what, run, problem) => {
    expect(thrownBy(run).message).toContain(problem);
  });

  test("listen refuses a name that is not known", async () => {
    const listening = () => createTestService().listen({ prot: 0 } as object);
    expect((await failureOf(listening)).message).toContain("prot: did you mean port?");
  });

  test("passes unknown fields, and responds with 400 to them when it is strict", async () => {
    const extra = { query: "q", documents: ["d"], top_k: 1 };
    const client = (strict?: boolean) =>
      connect("https://service.test", { fetch: createTestService({ strict }).fetch });
    await client().rerank(extra);
    await client(true).rerank({ query: "q", documents: ["d"] });
    await client(true).deployments.scale("prod", 1);
    const error = await failureOf(() => client(true).rerank(extra));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", httpStatus: 400 });
    expect(error.message).toContain("There is no field top_k.");
  });

  test("refuses a strict that is no boolean", () => {
    const error = thrownBy(() => createTestService({ strict: "yes" as unknown as boolean }));
    expect(textOf(error)).toBe("[INVALID_ARGUMENT] strict must be true or false.");
  });

  test("says which port is taken", async () => {
    const first = await createTestService().listen();
    try {
      const port = Number(new URL(first.url).port);
      const error = await failureOf(() => createTestService().listen({ port }));
      expect(error).toMatchObject({ code: "FAILED_PRECONDITION", executed: "no" });
      expect(error.message).toContain(`Port ${port} of 127.0.0.1 is taken (EADDRINUSE)`);
      expect(error.cause).toMatchObject({ code: "EADDRINUSE" });
    } finally {
      await first.close();
    }
  });
});

describe("an adapter", () => {
  test("for LangChain refuses top_n, and takes what LangChain passes of its own", () => {
    const client = connect(server.url);
    expect(thrownBy(() => createDocumentCompressor(client, { top_n: 3 } as object)).message).toContain(
      "top_n: did you mean topN?",
    );
    createDocumentCompressor(client, { topN: 3, callbacks: [], verbose: false } as object);
  });

  test("for LangChain sends nothing of callbacks", async () => {
    server.reply({
      json: { object: "list", model: "m", data: [{ index: 0, relevance_score: 1 }], usage: {} },
    });
    const compressor = createDocumentCompressor(connect(server.url), { callbacks: [] } as object);
    await compressor.compressDocuments([{ pageContent: "d", metadata: {} }], "q");
    expect(server.only.body.toString()).not.toContain("callbacks");
  });

  test("for the AI SDK refuses version, and what providerOptions.tunerank does not have", async () => {
    const client = connect(server.url);
    expect(
      thrownBy(() => createRerankingModel(client, "m", { specVersion: "v4" } as object)).message,
    ).toContain("specVersion: did you mean specificationVersion?");
    const call = {
      documents: { type: "text", values: ["d"] } as const,
      query: "q",
      providerOptions: { tunerank: { tasks: "t" } },
    };
    const error = await failureOf(() => createRerankingModel(client, "m").doRerank(call));
    expect(error.message).toContain("tasks: did you mean task?");
    expect(server.requests).toEqual([]);
  });
});
