import { describe, expect, test } from "vitest";
import { requests } from "../../src/generated/contract.js";
import { type CallOptions, type Client, isStatusError, type RerankRequest } from "../../src/index.js";
import type { Rules } from "../../src/options/rules.js";
import { validate } from "../../src/options/validate.js";
import { checkStrictly } from "../../src/testing/receive.js";
import { canaryKey, leaksOf } from "../support/canary.js";
import { connect, failureOf, operationCalls } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { textOf } from "../support/withHint.js";

const server = useRecordingServer();

type Refused = readonly [what: string, code: string, value: unknown];

// The rules of each type are tested below, by themselves.
const replicaCounts: readonly Refused[] = [
  ["missing", "INVALID_ARGUMENT", undefined],
  ["-1", "OUT_OF_RANGE", -1],
  ["a string", "INVALID_ARGUMENT", "2"],
];

const circular: Record<string, unknown> = { query: "q", documents: ["d"] };
circular.self = circular;

const rerankBodies: readonly Refused[] = [
  ["no body", "INVALID_ARGUMENT", undefined],
  ["a list", "INVALID_ARGUMENT", [{ query: "q", documents: ["d"] }]],
  ["no query", "INVALID_ARGUMENT", { documents: ["d"] }],
  ["no documents", "INVALID_ARGUMENT", { query: "q" }],
  ["an empty list of documents", "INVALID_ARGUMENT", { query: "q", documents: [] }],
  // biome-ignore lint/suspicious/noSparseArray: the hole is what is tested
  ["a hole in documents", "INVALID_ARGUMENT", { query: "q", documents: ["d", , "e"] }],
  ["top_n 0", "OUT_OF_RANGE", { query: "q", documents: ["d"], top_n: 0 }],
  ["a model that is no string", "INVALID_ARGUMENT", { query: "q", documents: ["d"], model: 1 }],
  ["a field that JSON cannot hold", "INVALID_ARGUMENT", { query: "q", documents: ["d"], extra: 1n }],
  ["a body within itself", "INVALID_ARGUMENT", circular],
];

const callOptions: readonly Refused[] = [
  ["timeoutMs 0", "OUT_OF_RANGE", { timeoutMs: 0 }],
  ["timeoutMs -1", "OUT_OF_RANGE", { timeoutMs: -1 }],
  ["timeoutMs NaN", "INVALID_ARGUMENT", { timeoutMs: Number.NaN }],
  ["timeoutMs Infinity", "INVALID_ARGUMENT", { timeoutMs: Number.POSITIVE_INFINITY }],
  ["timeoutMs as a string", "INVALID_ARGUMENT", { timeoutMs: "5" }],
  ["maxRetries -1", "OUT_OF_RANGE", { maxRetries: -1 }],
  ["maxRetries 3", "OUT_OF_RANGE", { maxRetries: 3 }],
  ["a fractional maxRetries", "INVALID_ARGUMENT", { maxRetries: 0.5 }],
  ["a signal that is a string", "INVALID_ARGUMENT", { signal: "stop" }],
  ["a signal that is an empty object", "INVALID_ARGUMENT", { signal: {} }],
  ["a controller instead of its signal", "INVALID_ARGUMENT", { signal: new AbortController() }],
  ["options that are a string", "INVALID_ARGUMENT", "options"],
  ["options that are null", "INVALID_ARGUMENT", null],
  ["options that are a function", "INVALID_ARGUMENT", () => ({})],
];

async function expectRefused(code: string, call: (client: Client) => PromiseLike<unknown>): Promise<void> {
  const error = await failureOf(() => call(connect(server.url)));
  expect(error).toMatchObject({ code, executed: "no", codeSource: "client", inferred: true });
  expect(error).toMatchObject({ executedBecause: "nothing-sent", notRetried: "refused" });
  if (code === "OUT_OF_RANGE") expect(error.hint).toMatch(/Use a value in the allowed range|try for longer/);
  expect(error.operation).toBeDefined();
  expect(error.httpStatus).toBeUndefined();
  expect(error.attempts).toEqual([]);
  expect(server.requests).toEqual([]);
}

test.each(replicaCounts)("scale refuses replicaCount %s with %s", (_what, code, value) =>
  expectRefused(code, (client) => client.deployments.scale("prod", value as number)),
);

test.each(rerankBodies)("rerank refuses %s with %s", (_what, code, body) =>
  expectRefused(code, (client) => client.rerank(body as RerankRequest)),
);

describe.each(operationCalls.slice(0, 3))("$operation", ({ call }) => {
  test.each(callOptions)("refuses %s with %s", (_what, code, value) =>
    expectRefused(code, (client) => call(client, value as CallOptions)),
  );
});

// The helper for uploads adds a name to the options, so they are given whole here.
test.each(callOptions)("uploadDatasetFile refuses %s with %s", (_what, code, value) =>
  expectRefused(code, (client) =>
    client.datasets.upload("reviews", new File(["x"], "train.jsonl"), value as CallOptions),
  ),
);

test("an error thrown by the caller's own getter is told with its own message, without the key", async () => {
  const client = connect(server.url);
  const thrown = (message: unknown) => ({
    get timeoutMs(): number {
      throw message;
    },
  });
  const error = await failureOf(() =>
    client.deployments.scale("prod", 1, thrown(new Error("no settings file"))),
  );
  expect(error.message).toBe(
    "[INVALID_ARGUMENT] An argument could not be read: no settings file. See cause.",
  );
  const withKey = await failureOf(() =>
    client.rerank.items("q", ["d"], thrown(new Error(`vault: ${canaryKey}`)) as never),
  );
  expect(textOf(withKey)).toBe("[INVALID_ARGUMENT] An argument could not be read: vault: [redacted].");
  expect(leaksOf(withKey)).toEqual([]);
  expect(
    textOf(await failureOf(() => client.rerank(thrown("words alone") as never, thrown("words alone")))),
  ).toBe("[INVALID_ARGUMENT] An argument could not be read: words alone.");
  expect(server.requests).toEqual([]);
});

test("an undefined option is as good as none", async () => {
  await connect(server.url).deployments.scale("prod", 1, {
    timeoutMs: undefined,
    signal: undefined,
    accountId: undefined,
    headers: undefined,
    maxRetries: undefined,
  });
  expect(server.only.url).toBe("/v1/accounts/acme/deployments/prod:scale");
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
    [
      "null is not as good as no field",
      { name: "n", truncate: null },
      invalid("truncate must be true or false when given."),
    ],
    [
      "an optional one is checked",
      { name: "n", truncate: "yes" },
      invalid("truncate must be true or false when given."),
    ],
    [
      "a number says what it is",
      { name: "n", size: 1.5 },
      invalid("size must be a whole number when given, not 1.5."),
    ],
  ])("%s", (_what, body, refusal) => {
    expect(refusalOf(body, rules)).toBe(refusal);
  });

  test("rules that others put on Object.prototype are none", () => {
    const prototype = Object.prototype as { other?: unknown };
    prototype.other = { type: "string" };
    try {
      expect(refusalOf({ name: "n" }, rules)).toBe("");
      expect(refusalOf({ name: "n", other: 1 }, rules)).toBe("");
    } finally {
      delete prototype.other;
    }
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
