import { describe, expect, test } from "vitest";
import type { CallOptions, Client, RerankRequest } from "../../src/index.js";
import { canaryKey, leaksOf } from "../support/canary.js";
import { connect, failureOf, operationCalls, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { textOf } from "../support/withHint.js";

const server = useRecordingServer();

type Refused = readonly [what: string, code: string, value: unknown];

const replicaCounts: readonly Refused[] = [
  ["missing", "INVALID_ARGUMENT", undefined],
  ["null", "INVALID_ARGUMENT", null],
  ["-1", "OUT_OF_RANGE", -1],
  ["a fraction", "INVALID_ARGUMENT", 1.5],
  ["NaN", "INVALID_ARGUMENT", Number.NaN],
  ["Infinity", "INVALID_ARGUMENT", Number.POSITIVE_INFINITY],
  ["beyond whole numbers", "INVALID_ARGUMENT", 2 ** 53],
  ["a string", "INVALID_ARGUMENT", "2"],
  ["a bigint", "INVALID_ARGUMENT", 2n],
];

const circular: Record<string, unknown> = { query: "q", documents: ["d"] };
circular.self = circular;

const rerankBodies: readonly Refused[] = [
  ["no body", "INVALID_ARGUMENT", undefined],
  ["null", "INVALID_ARGUMENT", null],
  ["a string", "INVALID_ARGUMENT", "query"],
  ["a list", "INVALID_ARGUMENT", [{ query: "q", documents: ["d"] }]],
  ["no query", "INVALID_ARGUMENT", { documents: ["d"] }],
  ["a query that is no string", "INVALID_ARGUMENT", { query: 1, documents: ["d"] }],
  [
    "an inherited query",
    "INVALID_ARGUMENT",
    Object.assign(Object.create({ query: "q" }), { documents: ["d"] }),
  ],
  ["no documents", "INVALID_ARGUMENT", { query: "q" }],
  ["an empty list of documents", "INVALID_ARGUMENT", { query: "q", documents: [] }],
  ["one string as documents", "INVALID_ARGUMENT", { query: "q", documents: "d" }],
  ["a document that is no string", "INVALID_ARGUMENT", { query: "q", documents: ["d", 2] }],
  ["a document that is an object", "INVALID_ARGUMENT", { query: "q", documents: [{ text: "d" }] }],
  // biome-ignore lint/suspicious/noSparseArray: the hole is what is tested
  ["a hole in documents", "INVALID_ARGUMENT", { query: "q", documents: ["d", , "e"] }],
  ["top_n 0", "OUT_OF_RANGE", { query: "q", documents: ["d"], top_n: 0 }],
  ["a fractional top_n", "INVALID_ARGUMENT", { query: "q", documents: ["d"], top_n: 1.5 }],
  ["top_n as a string", "INVALID_ARGUMENT", { query: "q", documents: ["d"], top_n: "1" }],
  [
    "return_documents as a string",
    "INVALID_ARGUMENT",
    { query: "q", documents: ["d"], return_documents: "yes" },
  ],
  ["a model that is no string", "INVALID_ARGUMENT", { query: "q", documents: ["d"], model: 1 }],
  ["a task that is no string", "INVALID_ARGUMENT", { query: "q", documents: ["d"], task: ["t"] }],
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
  ["a fractional maxRetries", "INVALID_ARGUMENT", { maxRetries: 0.5 }],
  ["a signal that is a string", "INVALID_ARGUMENT", { signal: "stop" }],
  ["a signal that is an empty object", "INVALID_ARGUMENT", { signal: {} }],
  ["a controller instead of its signal", "INVALID_ARGUMENT", { signal: new AbortController() }],
  ["options that are a string", "INVALID_ARGUMENT", "options"],
  ["options that are null", "INVALID_ARGUMENT", null],
  ["options that are a function", "INVALID_ARGUMENT", () => ({})],
];

describe.each(transports)("over $name, before anything is sent,", ({ options }) => {
  async function expectRefused(code: string, call: (client: Client) => PromiseLike<unknown>): Promise<void> {
    const error = await failureOf(() => call(connect(server.url, options)));
    expect(error).toMatchObject({ code, executed: "no", codeSource: "client", inferred: true });
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

  test("an error thrown by the caller's own getter becomes the cause of a StatusError", async () => {
    const cause = new Error("the getter failed");
    const body = {
      documents: ["d"],
      get query(): string {
        throw cause;
      },
    };
    const error = await failureOf(() => connect(server.url, options).rerank(body));
    expect(error).toMatchObject({ executed: "no", codeSource: "client", operation: "rerankDocuments" });
    expect(error.cause).toBe(cause);
    expect(server.requests).toEqual([]);
  });

  test("an error thrown by the caller's own getter is told with its own message, without the key", async () => {
    const client = connect(server.url, options);
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
    await connect(server.url, options).deployments.scale("prod", 1, {
      timeoutMs: undefined,
      signal: undefined,
      accountId: undefined,
      headers: undefined,
      maxRetries: undefined,
    });
    expect(server.only.url).toBe("/v1/accounts/acme/deployments/prod:scale");
  });
});
