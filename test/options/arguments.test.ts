import { describe, expect, onTestFinished, test } from "vitest";
import { requests } from "../../src/generated/contract.js";
import {
  type CallOptions,
  type Client,
  createClient,
  isStatusError,
  type RerankRequest,
} from "../../src/index.js";
import type { Rules } from "../../src/options/rules.js";
import { validate } from "../../src/options/validate.js";
import { checkStrictly } from "../../src/testing/receive.js";
import { canaryKey, leaksOf } from "../support/canary.js";
import { connect, failureOf, operationCalls } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { textOf } from "../support/withHint.js";

const server = useRecordingServer();
const bytes = new Uint8Array([1]);

type Call = (client: Client) => Promise<unknown>;

/** Fails unless the call is refused, and nothing is sent. @returns the error */
async function refusal(call: Call, code = "INVALID_ARGUMENT") {
  const error = await failureOf(() => call(connect(server.url)));
  expect(error).toMatchObject({ code, executed: "no", codeSource: "client", inferred: true, attempts: [] });
  expect(error).toMatchObject({ executedBecause: "nothing-sent", notRetried: "refused" });
  if (code === "OUT_OF_RANGE") expect(error.hint).toMatch(/Use a value in the allowed range|try for longer/);
  expect(error.operation).toBeDefined();
  expect(error.httpStatus).toBeUndefined();
  expect(server.requests).toEqual([]);
  return error;
}

const circular: Record<string, unknown> = { query: "q", documents: ["d"] };
circular.self = circular;

const fail = (): never => {
  throw new Error("no text");
};

/** A call with a wrong argument. */
interface Wrong {
  readonly argument: string;
  readonly call: Call;
  readonly item?: number;
  readonly code?: string;
  readonly text?: string;
}

const of = (name: string, call: Call, text?: string): Wrong => ({
  argument: name,
  call,
  ...(text !== undefined && { text: `${name} ${text}.` }),
});
const tooSmall = (name: string, call: Call): Wrong => ({ argument: name, call, code: "OUT_OF_RANGE" });
const ofItem = (name: string, item: number, call: Call): Wrong => ({ argument: name, call, item });
const body = (name: string, body?: unknown): Wrong => ({
  argument: name,
  call: ({ rerank }) => rerank(body as RerankRequest),
});
const [query, documents] = ["q", ["d"]];
const rerank = (options: unknown) => (client: Client) =>
  client.rerank({ query, documents }, options as CallOptions);
const named = (name: unknown) => (client: Client) =>
  client.datasets.upload("d", bytes, { name: name as string });

const calls: readonly Wrong[] = [
  body("body"),
  body("body", [{ query, documents }]),
  body("query", { documents }),
  body("documents", { query }),
  body("documents", { query, documents: [] }),
  body("documents[1]", { query, documents: ["a", 2] }),
  // biome-ignore lint/suspicious/noSparseArray: the hole is what is tested
  body("documents[1]", { query, documents: ["d", , "e"] }),
  body("model", { query, documents, model: 1 }),
  body("topN", { query, documents, topN: 1 }),
  body("body", { query, documents, extra: 1n }),
  body("body", circular),
  tooSmall("top_n", ({ rerank }) => rerank({ query, documents, top_n: 0 })),
  of(
    "documents[0]",
    ({ rerank }) => rerank({ query, documents: [{ text: "Paris." }] as never }),
    "must be a string. Rank objects with rerank.items",
  ),
  of("timeout", rerank({ timeout: 1 })),
  of('headers["host"]', rerank({ headers: { Host: "h" } })),
  of("text", ({ rerank }) => rerank.items(query, [1], {} as never)),
  ofItem("text", 1, ({ rerank }) =>
    rerank.items(query, [1, 2], { text: (item) => (item === 2 ? fail() : "a") }),
  ),
  ofItem("split", 0, ({ rerank }) => rerank.items(query, [1], { text: String, split: () => [] })),
  tooSmall("topN", ({ rerank }) => rerank.items(query, [1], { text: String, topN: 0 })),
  tooSmall("concurrency.max", ({ rerank }) =>
    rerank.items(query, [1], { text: String, concurrency: { max: 0 } }),
  ),
  ofItem("items[1]", 1, ({ rerank }) =>
    rerank.items(query, [1, "1".repeat(99)], { text: String, maxBatchBytes: 90 }),
  ),
  of(
    "deploymentId",
    ({ deployments }) => deployments.scale("accounts/acme/", 1),
    'contains "/": pass the id alone, not a full resource name',
  ),
  of(
    "deploymentId",
    ({ deployments }) => deployments.scale("accounts/acme/deployments/prod", 1),
    'contains "/": pass the id alone ("prod"), not a full resource name',
  ),
  // As other clients of scale take it.
  of(
    "deploymentId",
    ({ deployments }) => deployments.scale({ id: "prod", replicas: 2 } as never, undefined as never),
    "of scale(id, replicas) must be a string",
  ),
  of("replicaCount", ({ deployments }) => deployments.scale("prod", undefined as never)),
  of("replicaCount", ({ deployments }) => deployments.scale("prod", "2" as never)),
  tooSmall("replicaCount", ({ deployments }) => deployments.scale("prod", -1)),
  of("jobId", ({ reinforcementFineTuningJobs: jobs }) => jobs.resume("..")),
  of("accountId", ({ reinforcementFineTuningJobs: jobs }) => jobs.resume("j", { accountId: "" })),
  of("datasetId", ({ datasets }) => datasets.upload("", bytes, { name: "f" })),
  of("file", ({ datasets }) => datasets.upload("d", "no-such-file.jsonl")),
  of("file", ({ datasets }) => datasets.upload("d", 1 as never)),
  of("contentType", ({ datasets }) => datasets.upload("d", bytes, { name: "f", contentType: "x" })),
  of("name", ({ datasets }) => datasets.upload("d", bytes)),
  of("name", ({ datasets }) => datasets.upload("d", new Blob(["x"]))),
  ...[7, null].map((name) => of("name", named(name), "must be a string")),
  ...["", "data/", ".", "data/.."].map((name) => of("name", named(name), "must end with a file name")),
  ...["a\nb", "a\rb", "a\0b"].map((name) => of("name", named(name), "contains a control character")),
  of("name", named("a\ud83d"), "contains a lone surrogate"),
  of("method", ({ request }) => request({ method: "get" as never, path: "/v1" })),
  of("path", ({ request }) => request({ method: "GET", path: "/a//b" })),
  of("query.q", ({ request }) => request({ method: "GET", path: "/a", query: { q: {} as never } })),
  of("body", ({ request }) => request({ method: "POST", path: "/a", body: new Map() })),
];

describe("a call with a wrong argument", () => {
  test.each(calls)("names $argument in `argument`, and nothing is sent (%#)", async (wrong) => {
    const { argument, call, item, code, text } = wrong;
    const error = await refusal(call, code);
    expect([error.argument, error.item]).toEqual([argument, item]);
    expect(error.toJSON().argument).toBe(argument);
    if (text !== undefined) expect([textOf(error), error.message]).toContain(`[INVALID_ARGUMENT] ${text}`);
  });

  test("names a setting that is missing by its option", async () => {
    const client = createClient({ baseUrl: "https://api.example.com" });
    const error = await failureOf(() => client.request({ method: "GET", path: "/a" }));
    expect(error).toMatchObject({ argument: "apiKey" });
  });

  test("is told from one that the service rejected, which has no `argument`", async () => {
    server.reply({ status: 400, json: { code: "INVALID_ARGUMENT", message: "documents[0] is empty." } });
    const error = await failureOf(() => rerank({})(connect(server.url)));
    expect(Object.hasOwn(error, "argument")).toBe(false);
  });
});

describe.each(operationCalls)("$operation", ({ operation, call }) => {
  test.each<[what: string, code: string, value: unknown, argument?: string]>([
    ["timeoutMs 0", "OUT_OF_RANGE", { timeoutMs: 0 }],
    ["timeoutMs -1", "OUT_OF_RANGE", { timeoutMs: -1 }],
    ["timeoutMs NaN", "INVALID_ARGUMENT", { timeoutMs: Number.NaN }],
    ["timeoutMs Infinity", "INVALID_ARGUMENT", { timeoutMs: Number.POSITIVE_INFINITY }],
    ["timeoutMs as a string", "INVALID_ARGUMENT", { timeoutMs: "5" }],
    ["maxRetries -1", "OUT_OF_RANGE", { maxRetries: -1 }],
    ["maxRetries 3", "OUT_OF_RANGE", { maxRetries: 3 }],
    ["a fractional maxRetries", "INVALID_ARGUMENT", { maxRetries: 0.5 }],
    ['idempotent "no"', "INVALID_ARGUMENT", { idempotent: "no" }],
    ["idempotent 0", "INVALID_ARGUMENT", { idempotent: 0 }],
    ["idempotent {}", "INVALID_ARGUMENT", { idempotent: {} }],
    ["a signal that is a string", "INVALID_ARGUMENT", { signal: "stop" }],
    ["a signal that is an empty object", "INVALID_ARGUMENT", { signal: {} }],
    ["a controller instead of its signal", "INVALID_ARGUMENT", { signal: new AbortController() }],
    ["options that are a string", "INVALID_ARGUMENT", "options"],
    ["options that are null", "INVALID_ARGUMENT", null],
    ["a name that is no option's", "INVALID_ARGUMENT", { timeout: 5 }],
    ["options that are a function", "INVALID_ARGUMENT", () => ({})],
  ])("refuses %s with %s", async (_what, code, value) => {
    // The helper for uploads adds a name to the options, so they are given whole here.
    const upload: Call = ({ datasets }) =>
      datasets.upload("reviews", new File(["x"], "train.jsonl"), value as CallOptions);
    const isUpload = operation === "uploadDatasetFile";
    const error = await refusal(isUpload ? upload : (client) => call(client, value as CallOptions), code);
    const [name] = typeof value === "object" && value !== null ? Object.keys(value) : ["options"];
    expect(error.argument).toBe(name);
  });
});

test.each<[what: string, call: Call]>([
  ["a fraction of a millisecond more", ({ deployments }) => deployments.scale("p", 1, { timeoutMs: 5000.5 })],
  ["a letter next to the controls", ({ deployments }) => deployments.scale("\u00a0 ~", 1)],
  ["verifyBytes: false", ({ datasets }) => datasets.upload("d", bytes, { name: "f", verifyBytes: false })],
  [
    "options that are undefined",
    ({ deployments }) =>
      deployments.scale("prod", 1, {
        ...{ timeoutMs: undefined, signal: undefined, accountId: undefined },
        ...{ headers: undefined, maxRetries: undefined },
      }),
  ],
])("at the edge of what is refused a call is made: with %s", async (_what, call) => {
  await call(connect(server.url));
  expect(server.only.url).toContain("/accounts/acme/");
});

test("an error thrown by the caller's own getter is told with its own message, without the key", async () => {
  const thrown = (message: unknown): never =>
    ({
      get timeoutMs(): number {
        throw message;
      },
    }) as never;
  const read = "[INVALID_ARGUMENT] An argument could not be read:";
  const scaled = await refusal(({ deployments }) =>
    deployments.scale("prod", 1, thrown(new Error("no settings file"))),
  );
  expect(scaled.message).toBe(`${read} no settings file. See cause.`);
  const withKey = await refusal(({ rerank }) =>
    rerank.items("q", ["d"], thrown(new Error(`vault: ${canaryKey}`))),
  );
  expect(textOf(withKey)).toBe(`${read} vault: [redacted].`);
  expect(leaksOf(withKey)).toEqual([]);
  const ranked = await refusal(({ rerank }) => rerank(thrown("words alone"), thrown("words alone")));
  expect(textOf(ranked)).toBe(`${read} words alone.`);
});

describe("an id", () => {
  const ids: readonly (readonly [
    argument: string,
    call: (client: Client, id: string) => Promise<unknown>,
    path: (segment: string) => string,
  ])[] = [
    [
      "deploymentId",
      ({ deployments }, id) => deployments.scale(id, 1),
      (id) => `/v1/accounts/acme/deployments/${id}:scale`,
    ],
    [
      "jobId",
      ({ reinforcementFineTuningJobs: jobs }, id) => jobs.resume(id),
      (id) => `/v1/accounts/acme/reinforcementFineTuningJobs/${id}:resume`,
    ],
    [
      "datasetId",
      ({ datasets }, id) => datasets.upload(id, bytes, { name: "f" }),
      (id) => `/v1/accounts/acme/datasets/${id}:upload`,
    ],
    [
      "accountId",
      ({ deployments }, accountId) => deployments.scale("prod", 1, { accountId }),
      (id) => `/v1/accounts/${id}/deployments/prod:scale`,
    ],
  ];

  describe.each(ids)("as %s", (argument, call, path) => {
    test.each([
      ["a space", "my job", "my%20job"],
      ["a colon", "job:1", "job%3A1"],
      ["a verb", "job:resume", "job%3Aresume"],
      ["letters outside ASCII", "café-検索", "caf%C3%A9-%E6%A4%9C%E7%B4%A2"],
      ["a pair of surrogates", "job-🔎", "job-%F0%9F%94%8E"],
      ["a template's braces", "{account_id}", "%7Baccount_id%7D"],
      ["replacement patterns", "$&$1", "%24%26%241"],
      ["dots within", "v1.2..3", "v1.2..3"],
      ["three dots", "...", "..."],
      ["signs", "a+b@c=d&e;f,g|h^i", "a%2Bb%40c%3Dd%26e%3Bf%2Cg%7Ch%5Ei"],
      ["256 characters", "x".repeat(256), "x".repeat(256)],
    ])("with %s is sent as one encoded segment", async (_what, id, segment) => {
      await call(connect(server.url), id);
      expect(server.only.url).toBe(path(segment));
      expect(decodeURIComponent(segment)).toBe(id);
    });

    const nothing = [undefined, null];
    const characters = [..."/\\?#%\n\0\x7f\x85\x9f", "\ud83d", "\udd0e"];
    test.each([
      ...["", ".", "..", "accounts/acme/deployments/prod", "x".repeat(257)],
      ...characters.map((character) => `a${character}b`),
      ...[7, { toString: () => "job-1" }, Symbol("job-1")],
      // The account's undefined means the client's own.
      ...(argument === "accountId" ? [] : nothing),
    ])("of %j is refused before anything is sent", async (id) => {
      const error = await refusal((client) => call(client, id as string));
      expect(error.argument).toBe(argument);
      expect(error.message).toContain(argument);
    });
  });
});

/** What a value is refused with; nothing when it keeps its rules. */
function refusalOf(value: unknown, rules: Rules, name = "body"): string {
  try {
    validate(value, rules, name);
    return "";
  } catch (error) {
    if (!isStatusError(error)) throw error;
    expect(error).toMatchObject({ executed: "no", codeSource: "client" });
    return textOf(error);
  }
}

const invalid = (text: string) => `[INVALID_ARGUMENT] ${text}`;

describe("a value of the type", () => {
  const least = { type: "integer", minimum: 2 };
  const texts = { type: "array", minItems: 2, items: { type: "string" } };

  test.each<[value: unknown, rules: Rules, refusal: string]>([
    ["", { type: "string" }, ""],
    [new String("x"), { type: "string" }, invalid("x must be a string.")],
    [null, { type: "string" }, invalid("x must be a string.")],
    [false, { type: "boolean" }, ""],
    ["yes", { type: "boolean" }, invalid("x must be true or false.")],
    [0, { type: "boolean" }, invalid("x must be true or false.")],
    [2, least, ""],
    [2 ** 53 - 1, least, ""],
    [1, least, "[OUT_OF_RANGE] x must be at least 2, not 1."],
    [2.5, least, invalid("x must be a whole number, not 2.5.")],
    [2 ** 53, least, invalid("x must be a whole number, not 9007199254740992.")],
    [Number.NaN, least, invalid("x must be a whole number.")],
    ["2", least, invalid("x must be a whole number.")],
    [2n, least, invalid("x must be a whole number.")],
    [-0.5, { type: "number" }, ""],
    [Number.POSITIVE_INFINITY, { type: "number" }, invalid("x must be a finite number.")],
    ["1", { type: "number" }, invalid("x must be a finite number.")],
    [{}, { type: "object" }, ""],
    [Object.create(null), { type: "object" }, ""],
    [null, { type: "object" }, invalid("x must be an object.")],
    [[], { type: "object" }, invalid("x must be an object.")],
    [() => ({}), { type: "object" }, invalid("x must be an object.")],
    [[1, {}], { type: "array" }, ""],
    [{ length: 0 }, { type: "array" }, invalid("x must be a list.")],
    [["a", "b"], texts, ""],
    [["a"], texts, invalid("x must be a list of at least 2 strings.")],
    ["a", texts, invalid("x must be a list of at least 2 strings.")],
    [[], { ...texts, minItems: 1 }, invalid("x must be a list of at least 1 string.")],
    [["a", "b", 1], texts, invalid("x[2] must be a string.")],
    [new Array(2), texts, invalid("x[0] must be a string.")],
    [[3, 1], { type: "array", items: least }, "[OUT_OF_RANGE] x[1] must be at least 2, not 1."],
    [
      [{ a: 1 }],
      { type: "array", items: { type: "object", properties: { a: texts } } },
      invalid("x[0].a must be a list of at least 2 strings when given."),
    ],
  ])("%o is checked against %o", (value, rules, refusal) => {
    expect(refusalOf(value, rules, "x")).toBe(refusal);
  });
});

describe("the fields of an object", () => {
  const noFlag = "truncate must be true or false when given.";
  const noWhole = "size must be a whole number when given, not 1.5.";
  const rules: Rules = {
    type: "object",
    required: ["name"],
    properties: { name: { type: "string" }, truncate: { type: "boolean" }, size: { type: "integer" } },
  };

  test.each<[what: string, body: object, refusal: string]>([
    ["a field without rules passes", { name: "n", other: Symbol.iterator }, ""],
    ["undefined is as good as no field", { name: "n", truncate: undefined }, ""],
    ["a required one has to be there", { truncate: true }, invalid("name must be a string.")],
    ["undefined is not there", { name: undefined }, invalid("name must be a string.")],
    ["an inherited one is not there", Object.create({ name: "n" }), invalid("name must be a string.")],
    ["null is not as good as no field", { name: "n", truncate: null }, invalid(noFlag)],
    ["an optional one is checked", { name: "n", truncate: "yes" }, invalid(noFlag)],
    ["a number says what it is", { name: "n", size: 1.5 }, invalid(noWhole)],
  ])("%s", (_what, body, refusal) => {
    expect(refusalOf(body, rules)).toBe(refusal);
  });

  test("rules that others put on Object.prototype are none", () => {
    Object.assign(Object.prototype, { other: { type: "string" } });
    onTestFinished(() => void Reflect.deleteProperty(Object.prototype, "other"));
    expect(refusalOf({ name: "n" }, rules)).toBe("");
    expect(refusalOf({ name: "n", other: 1 }, rules)).toBe("");
  });
});

describe("what the client leaves to the service, its mock server refuses:", () => {
  const { rerankDocuments, resumeReinforcementFineTuningJob } = requests;
  const secret = "accounts/acme/secrets/object-store-a";
  const secretForm = "^accounts/[^/]+/secrets/[^/]+$";

  test.each<[what: string, value: unknown, rules: Rules, problem: string]>([
    [
      "a model of another form",
      { query: "q", documents: ["d"], model: "m" },
      rerankDocuments.body,
      "model must have the form accounts/<account>/models/<model_id>, such as accounts/acme/models/reranker-small.",
    ],
    [
      "a field of an object that has none",
      { a: 1 },
      resumeReinforcementFineTuningJob.body,
      "There is no field a.",
    ],
    [
      "an item of another form",
      [[secret], [secret, "c d"]],
      { type: "array", items: { type: "array", items: { type: "string", pattern: secretForm } } },
      `body[1][1] must have the form accounts/{account_id}/secrets/{secret_id}, such as ${secret}.`,
    ],
  ])("%s", (_what, value, rules, problem) => {
    expect(refusalOf(value, rules)).toBe("");
    expect(() => checkStrictly(value, rules, "body")).toThrow(problem);
  });

  test("nothing else", () => {
    const body = { query: "q", documents: ["d"], model: "accounts/acme/models/small", other: {} };
    checkStrictly(body, rerankDocuments.body, "body");
    checkStrictly({}, resumeReinforcementFineTuningJob.body, "body");
  });
});
