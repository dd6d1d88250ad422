// A response is a result only if it can be joined with the documents of its request.
import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import {
  checkRanking,
  type RerankAllRequest,
  type RerankAllResult,
  rerankAll,
} from "../../src/bulk/index.js";
import type { RerankRequest, RerankResponse } from "../../src/index.js";
import { collect, endOf } from "../support/bulkRuns.js";
import { readByClient } from "../support/clientSockets.js";
import { connect, failureOf, thrownBy, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { ranked } from "../support/responses.js";
import { until } from "../support/turns.js";

const server = useRecordingServer();
const documents = ["one", "two", "three"];
type Entries = readonly { readonly index: number; readonly relevance_score: number }[];

function entries(...indexes: readonly number[]): Entries {
  return indexes.map((index, position) => ({ index, relevance_score: 1 - position / 10 }));
}

const ranking = (data: Entries, more: object = {}): RerankResponse =>
  ({ object: "list", model: "m", data, usage: {}, ...more }) as RerankResponse;

async function rank(
  client: Parameters<typeof rerankAll>[0],
  body: Partial<RerankRequest> = {},
): Promise<RerankAllResult> {
  const [result] = await collect(rerankAll(client, [{ id: "a", query: "q", documents, ...body }]));
  return result as RerankAllResult;
}

// What came, what was asked for besides, and what is wrong with it.
const broken: readonly [name: string, data: Entries, body: Partial<RerankRequest>, says: string][] = [
  ["past the last document", entries(0, 1, 9), {}, "data[2].index is outside the list of 3 documents"],
  ["counted from 1", entries(1, 2, 3), {}, "data[2].index is outside the list of 3 documents"],
  ["below 0", entries(0, -1, 2), {}, "data[1].index is outside the list of 3 documents"],
  ["there twice", entries(0, 1, 1), {}, "index 1 is there twice"],
  ["missing", entries(0, 2), {}, "index 1 is missing"],
  ["missing of all", entries(), {}, "index 0 is missing"],
  ["missing where top_n is all", entries(0, 1), { top_n: 3 }, "index 2 is missing"],
  ["missing where top_n is more than all", entries(0, 1), { top_n: 30 }, "index 2 is missing"],
  ["missing of top_n", entries(2), { top_n: 2 }, "1 of the 2 documents that top_n asks for"],
  [
    "of another document",
    [
      { index: 0, relevance_score: 2, document: "two" },
      { index: 1, relevance_score: 1, document: "one" },
    ] as readonly object[] as Entries,
    { documents: ["one", "two"] },
    "the document of index 0 is another",
  ],
];

describe.each(transports)("over $name", ({ options }) => {
  test("rerankAll makes an error of it, which is not asked for again", async () => {
    server.reply({ json: ranking(entries(0, 1, 9)), headers: { "x-request-id": "req-1" } });
    const { error, response } = await rank(connect(server.url, options));
    expect(response).toBeUndefined();
    expect(error?.message).toContain("data[2].index is outside the list of 3 documents");
    expect(error).toMatchObject({
      code: "INTERNAL",
      executed: "yes",
      executedBecause: "success-began",
      codeSource: "client",
      operation: "rerankDocuments",
      notRetried: "not-transient",
      httpStatus: 200,
      requestId: "req-1",
      attempts: [{ number: 1, httpStatus: 200 }],
    });
    expect(server.requests).toHaveLength(1);
  });
});

test("a ranking that is only not in order is put in order, and keeps what else it holds", async () => {
  const data = [
    { index: 2, relevance_score: 0.1 },
    { index: 0, relevance_score: 0.5, note: "kept" },
    { index: 1, relevance_score: 0.5 },
  ];
  server.reply({ json: ranking(data, { extra: 1 }) });
  const { response } = await rank(connect(server.url));
  expect(response).toEqual(ranking([data[1], data[2], data[0]] as Entries, { extra: 1 }));
});

test("a ranking of top_n documents is one, and so is a longer one", async () => {
  for (const data of [entries(2, 0), entries(2, 0, 1)]) {
    server.reply({ json: ranking(data) });
    expect((await rank(connect(server.url), { top_n: 2 })).response?.data).toEqual(data);
  }
});

describe("checkRanking", () => {
  const thrown = (request: RerankRequest, response: unknown) =>
    thrownBy(() => checkRanking(request, response as RerankResponse));

  test.each(broken)("refuses an index that is %s", (_name, data, body, says) => {
    const error = thrown({ query: "q", documents, ...body }, ranking(data));
    expect(error.message).toContain(`The ranking cannot be matched with what was sent: `);
    expect(error.message).toContain(says);
    expect(error).toMatchObject({ code: "INTERNAL", executed: "yes", operation: "rerankDocuments" });
  });

  test.each([{}, undefined, null, "text", [], { data: {} }, { data: [{ index: 0 }] }, { data: [null] }])(
    "refuses %j, which is no ranking",
    (response) => {
      expect(thrown({ query: "q", documents }, response)).toMatchObject({
        code: "INTERNAL",
        executed: "yes",
      });
    },
  );

  test("hands back the response itself, or a copy in order", () => {
    const request = { query: "q", documents };
    const ordered = ranking(entries(2, 0, 1));
    expect(checkRanking(request, ordered)).toBe(ordered);
    const data = [...entries(2, 0, 1)].reverse();
    const response = ranking(data);
    expect(checkRanking(request, response)).toEqual(ordered);
    expect(response.data).toEqual([...entries(2, 0, 1)].reverse());
  });

  test("a request without a list of documents is the caller's mistake", () => {
    for (const request of [undefined, {}, { documents: "one" }])
      expect(thrown(request as unknown as RerankRequest, ranking([]))).toMatchObject({
        code: "INVALID_ARGUMENT",
      });
  });
});

test("null is not given: data tools write it for what is missing", async () => {
  server.reply(() => ({ json: ranking(entries(0, 1, 2)) }));
  const body = { top_n: null, model: null, task: null } as unknown as Partial<RerankRequest>;
  expect((await rank(connect(server.url), body)).response?.data).toHaveLength(3);
  expect(JSON.parse(`${server.requests.at(-1)?.body}`)).not.toHaveProperty("top_n");
});

test("a source may use one list for all its requests", async () => {
  server.reply((request) => ranked(request));
  const list: string[] = [];
  function* source(): Generator<RerankAllRequest<number>> {
    for (let id = 0; id < 8; id += 1) {
      list.splice(0, list.length, ...Array.from({ length: 1 + (id % 3) }, (_, index) => `${id} ${index}`));
      yield { id, query: "q", documents: list };
    }
  }
  const all = await collect(rerankAll(connect(server.url), source(), { concurrency: 2 }));
  const found = all.map(({ id, response, error }) => [id, response?.data.length, error]);
  expect(found.sort()).toEqual(Array.from({ length: 8 }, (_, id) => [id, 1 + (id % 3), undefined]));
  const sent = server.requests.map(({ body }) => JSON.parse(`${body}`).documents as string[]).sort();
  expect(sent.map((documents) => documents.map((text) => text.split(" ")[0]))).toEqual(
    Array.from({ length: 8 }, (_, id) => Array.from({ length: 1 + (id % 3) }, () => `${id}`)),
  );
});

test("a rejected key ends a run after its requests in flight, whose responses are results", async () => {
  const held = new Map<string, ServerResponse>();
  server.reply(({ body }, response) => {
    held.set(JSON.parse(`${body}`).query, response);
    return undefined;
  });
  const one = JSON.stringify({ object: "list", model: "m", data: [{ index: 0, relevance_score: 1 }] });
  const requests = ["a", "bad", "b", "never"].map((query) => ({ id: query, query, documents: ["d"] }));
  const ended = endOf(rerankAll(connect(server.url), requests, { concurrency: 3 }));
  await until(() => held.size === 3);
  const { socket } = held.get("bad") as ServerResponse;
  held.get("bad")?.writeHead(401).end();
  await readByClient(socket);
  for (const id of ["a", "b"]) held.get(id)?.end(one);
  const { all, error } = await ended;
  expect(error).toMatchObject({ code: "UNAUTHENTICATED", notDone: ["bad"], done: 2 });
  const ids = all.flatMap(({ id, response }) => (response ? id : []));
  expect([ids.sort(), server.requests.length]).toEqual([["a", "b"], 3]);
});

test("after a rejected key the next run begins with few requests", async () => {
  let isMended = true;
  server.reply((request) => (isMended ? ranked(request) : { status: 401 }));
  const client = connect(server.url);
  const requests = Array.from({ length: 300 }, (_, id) => ({ id, query: "q", documents: ["d"] }));
  for (const { error } of await collect(rerankAll(client, requests))) expect(error).toBeUndefined();
  isMended = false;
  await failureOf(() => collect(rerankAll(client, requests)));
  server.requests = [];
  await failureOf(() => collect(rerankAll(client, requests)));
  expect(server.requests).toHaveLength(4);
});
