import { describe, expect, test } from "vitest";
import type { Client } from "../../src/index.js";
import { useNoBackoff } from "../support/backoff.js";
import { connect, failureOf, operationCalls, transports } from "../support/clients.js";
import { type Reply, useRecordingServer } from "../support/recordingServer.js";
import { entriesFor } from "../support/responses.js";

const server = useRecordingServer();

// Responses that are JSON objects, and lack what the operation is for.
describe("a response that lacks something", () => {
  useNoBackoff();

  const documents = ["Paris.", "Rome."];
  const body = { query: "capital of France", documents };
  const entry = (score: string, index = "0"): Reply => ({
    text: `{"data":[{"index":${index},"relevance_score":${score}},{"index":1,"relevance_score":0.5}]}`,
  });
  const missing = (field: string) =>
    `The response is not the JSON object that the OpenAPI document describes: ${field}`;
  const [noList, noIndex, noScore] = ["data", "data[0].index", "data[0].relevance_score"];

  const upload = (client: Client) => client.datasets.upload("reviews", new Uint8Array([1]), { name: "a" });

  const unusable: readonly (readonly [what: string, reply: Reply, field: string | undefined])[] = [
    ["a word of maintenance", { json: { message: "maintenance" } }, noList],
    ["nothing in it", { json: {} }, noList],
    ["data that is an object", { json: { data: { index: 0, relevance_score: 1 } } }, noList],
    ["an entry that is null", { json: { data: [null] } }, noIndex],
    ["an entry that is a list", { json: { data: [[0, 1]] } }, noIndex],
    ["no index", { json: { data: [{ relevance_score: 1 }] } }, noIndex],
    ["an index that is text", entry("1", '"0"'), noIndex],
    ["half an index", entry("1", "0.5"), noIndex],
    ["an index of 1e400", entry("1", "1e400"), noIndex],
    ["no score", { json: { data: [{ index: 0 }] } }, noScore],
    ["a score of 1e400", entry("1e400"), noScore],
    ["a score of -1e400", entry("-1e400"), noScore],
    ["a score that is text", entry('"0.9"'), noScore],
    ["a score that is null", entry("null"), noScore],
  ];

  // Every way to ask for a ranking.
  const rankings: readonly (readonly [name: string, rank: (client: Client) => Promise<unknown>])[] = [
    ["rerank", (client) => client.rerank(body)],
    ["rerank.items", (client) => client.rerank.items(body.query, documents, { text: (each) => each })],
  ];

  const client = (maxRetries = 0): Client => connect(server.url, { maxRetries });

  test.each([
    ["a word of maintenance", { message: "maintenance" }],
    ["nothing in it", {}],
    ["an id that is null", { id: null, bytes: 1, filename: "a" }],
    ["an id that is a number", { id: 7, bytes: 1, filename: "a" }],
  ])(
    "an upload whose response has %s is INTERNAL, is not sent again, and may be stored",
    async (_what, json) => {
      server.reply({ json });
      const error = await failureOf(() => upload(client(2)));
      expect(error).toMatchObject({
        ...{ code: "INTERNAL", executed: "yes", codeSource: "client", inferred: true, httpStatus: 200 },
        ...{ notRetried: "not-safe", body: json },
      });
      expect(error.message).toContain(missing("id"));
      expect(error.hint).toContain("The file may have been stored: check the dataset");
      expect(server.requests).toHaveLength(1);
    },
  );

  test("an upload's id is any text, and its other fields may be absent, new or of another kind", async () => {
    for (const json of [{ id: "" }, { id: "file-1", bytes: "131", purpose: "teleport", extra: { a: 1 } }]) {
      server.reply({ json });
      expect(await upload(client())).toEqual(json);
    }
  });

  describe.each(rankings)("%s", (_name, rank) => {
    test.each(unusable)("whose response has %s is INTERNAL, and it ran", async (_what, reply, field = "") => {
      server.reply(reply);
      const error = await failureOf(() => rank(client()));
      expect(error).toMatchObject({ code: "INTERNAL", executed: "yes", operation: "rerankDocuments" });
      expect(error.message).toContain(missing(field));
    });
  });

  test("a ranking that cannot be read is asked for once more, and then taken", async () => {
    const good = { data: [{ index: 1, relevance_score: 2 }] };
    for (const rank of [
      () => client(2).rerank(body),
      () => client(2).rerank.items("q", ["b"], { text: (each) => each }),
    ]) {
      server.requests = [];
      server.reply({ json: {} });
      const error = await failureOf(rank);
      expect(error).toMatchObject({ notRetried: "retries-used-up", body: {} });
      expect(server.requests).toHaveLength(2);
    }
    server.reply(() => ({ json: server.requests.length % 2 === 1 ? {} : good }));
    expect(await client(2).rerank(body)).toEqual(good);
  });

  test("a job and a scaling need a JSON object, and nothing in it", async () => {
    server.reply({ json: { message: "maintenance" } });
    expect(await client().reinforcementFineTuningJobs.resume("job-1")).toEqual({ message: "maintenance" });
    expect(await client().deployments.scale("prod", 1)).toBeUndefined();
  });

  test("rerank takes a shorter response, with top_n and without", async () => {
    const json = { data: [{ index: 1, relevance_score: 2 }] };
    server.reply({ json });
    expect(await client().rerank({ ...body, top_n: 1 })).toEqual(json);
    expect(await client().rerank(body)).toEqual(json);
    server.reply({ json: { data: [] } });
    expect(await client().rerank(body)).toEqual({ data: [] });
  });

  describe("rerank.items sends no top_n: a response that ranks fewer documents than were sent", () => {
    const items = ["a", "b", "c", "d"];
    const split = (item: string): readonly string[] => [`${item}1`, `${item}2`];

    test.each<[how: string, options: object, most: number, words: string]>([
      ["in one request", {}, 3, "index 3 is missing (items[3])"],
      ["in batches of two", { batchSize: 2, concurrency: 1 }, 1, "index 1 is missing (items[1])"],
      ["of which there is none", {}, 0, "index 0 is missing (items[0])"],
      ["with topN", { topN: 1 }, 1, "index 1 is missing (items[1])"],
      ["of items of several parts", { split }, 5, "index 5 is missing (items[2])"],
    ])("%s is INTERNAL, and is not sent again", async (_how, options, most, words) => {
      server.reply((request) => ({ json: { data: entriesFor(`${request.body}`).slice(0, most) } }));
      const error = await failureOf(() => client(2).rerank.items("q", items, { text: String, ...options }));
      expect(error).toMatchObject({ code: "INTERNAL", executed: "yes", codeSource: "client" });
      expect(error.message).toContain(`The ranking cannot be matched with what was sent: ${words}.`);
      expect(server.requests).toHaveLength(1);
    });
  });
});

describe.each(transports)("over $name", ({ options }) => {
  test("more than 1 MiB is too much, but for a rerank: it may carry its documents back", async () => {
    const document = "x".repeat(3 * 1024 * 1024);
    const client = connect(server.url, options);
    server.reply({ json: { data: [{ index: 0, relevance_score: 1, document }] } });
    const { data } = await client.rerank({ query: "q", documents: [document] });
    expect(data[0]?.document).toBe(document);
    const error = await failureOf(() => client.reinforcementFineTuningJobs.resume("j"));
    expect(error).toMatchObject({ code: "RESOURCE_EXHAUSTED", executed: "yes", codeSource: "client" });
  });
});

describe.each([
  ["a flat code", { code: "FAILED_PRECONDITION", message: "The job is running." }],
  ["Google's shape", { error: { code: 400, status: "FAILED_PRECONDITION", message: "The job is running." } }],
  ["grpc-gateway's", { code: 9, message: "The job is running.", details: [] }],
  ["Lambda's", { errorMessage: "The job is running.", errorType: "Error" }],
])("a 2xx whose body is an error in %s", (_shape, json) => {
  test.each(operationCalls)("$operation is INTERNAL, unknown and not retried", async ({ call }) => {
    server.reply({ json });
    const error = await failureOf(() => call(connect(server.url, { maxRetries: 2 })));
    expect(error).toMatchObject({ code: "INTERNAL", executed: "unknown", httpStatus: 200, body: json });
    expect(error.message).toContain("The job is running.");
    expect(server.requests).toHaveLength(1);
  });

  test("is the value of client.request, and a job has fields beside it", async () => {
    server.reply({ json });
    const client = connect(server.url);
    expect(await client.request({ method: "GET", path: "/v1/x" })).toEqual(json);
    server.reply({ json: { name: "accounts/acme/jobs/1", ...json } });
    expect(await client.reinforcementFineTuningJobs.resume("job-1")).toMatchObject(json);
  });
});
