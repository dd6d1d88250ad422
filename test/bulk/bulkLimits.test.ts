import { expect, test } from "vitest";
import {
  type RerankAllError,
  type RerankAllOptions,
  type RerankAllRequest,
  rerankAll,
} from "../../src/bulk/index.js";
import { useNoBackoff } from "../support/backoff.js";
import { queryOf } from "../support/bulkFiles.js";
import { connect } from "../support/clients.js";
import { ranked } from "../support/rankings.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { networkError } from "../support/transientCodes.js";

const server = useRecordingServer();
useNoBackoff();

const usage = { prompt_tokens: 10, total_tokens: 10 };

function* requests(count: number): Generator<RerankAllRequest> {
  for (let index = 0; index < count; index += 1)
    yield { id: `r${index}`, query: `q${index}`, documents: ["one", "two"] };
}

/** What a run hands out, how it ends, and what it has sent in all. */
async function runWith(
  source: Iterable<RerankAllRequest>,
  options: RerankAllOptions,
  client = connect(server.url),
) {
  const results = rerankAll(client, source, options);
  const ids: string[] = [];
  try {
    for await (const { id } of results) ids.push(id);
    return { ids, counts: results.counts };
  } catch (error) {
    return { ids, counts: results.counts, error: error as RerankAllError };
  }
}

test("a run counts its requests, retries and tokens, of those that failed too", async () => {
  server.reply((request) =>
    server.requests.length === 2
      ? { status: 503, json: { code: "UNAVAILABLE" } }
      : queryOf(request) === "q2"
        ? { status: 400, json: { code: "INVALID_ARGUMENT" } }
        : ranked(request, { usage }),
  );
  const { counts } = await runWith(requests(4), { concurrency: 1 });
  expect(counts).toEqual({ done: 4, requests: 5, retries: 1, tokens: 30 });
});

test("a request that was never sent is none, and a response without usage has no tokens", async () => {
  server.reply((request) => ranked(request));
  const source = [...requests(2), { id: "empty", query: "q", documents: [] }];
  const { counts } = await runWith(source, { concurrency: 1 });
  expect(counts).toEqual({ done: 3, requests: 2, retries: 0, tokens: 0 });
});

test.each([1, 4])("maxRequests ends a run with %i at once, when all that was sent is there", async (most) => {
  server.reply((request) => ranked(request, { usage }));
  const { ids, error, counts } = await runWith(requests(20), { concurrency: most, maxRequests: 6 });
  expect(ids.sort()).toEqual(["r0", "r1", "r2", "r3", "r4", "r5"]);
  expect(error).toMatchObject({
    code: "RESOURCE_EXHAUSTED",
    codeSource: "client",
    limit: "maxRequests",
    executed: "yes",
    ...{ done: 6, requests: 6, retries: 0, tokens: 60 },
  });
  expect(error?.message).toContain("The run has made 6 requests (maxRequests).");
  expect(counts).toMatchObject({ requests: 6 });
  expect(server.requests).toHaveLength(6);
});

test("retries count, and one that is left for the next run is not done", async () => {
  server.reply((request) =>
    queryOf(request) === "q1" ? { status: 503, json: { code: "UNAVAILABLE" } } : ranked(request, { usage }),
  );
  const { ids, error } = await runWith(requests(20), { concurrency: 1, maxRequests: 3 });
  expect(server.requests.map(queryOf)).toEqual(["q0", "q1", "q1"]);
  expect(ids).toEqual(["r0"]);
  expect(error).toMatchObject({ limit: "maxRequests", notDone: ["r1"], requests: 3, retries: 1 });
});

test("a request that is refused before it is sent takes none of the requests", async () => {
  server.reply((request) => ranked(request));
  const source = [{ id: "empty", query: "q", documents: [] }, ...requests(2)];
  const { ids, error } = await runWith(source, { concurrency: 1, maxRequests: 2 });
  expect([ids.sort(), error]).toEqual([["empty", "r0", "r1"], undefined]);
});

// The run reads more of such a response before its request has a result.
test("a last response that is no ranking is no limit", async () => {
  server.reply(() => ({ json: { object: "list", data: [] } }));
  const client = connect(server.url);
  const options = { concurrency: 1, maxRequests: 1 };
  const whole = await runWith(requests(1), options, client);
  expect([whole.ids, whole.error]).toEqual([["r0"], undefined]);
  const { ids, error } = await runWith(requests(2), options, client);
  expect(ids).toEqual(["r0"]);
  expect(error).toMatchObject({ limit: "maxRequests", done: 1, notDone: ["r1"] });
});

test.each(["a list", "an async source"])("exactly as many as there are is no limit: %s", async (kind) => {
  server.reply((request) => ranked(request, { usage }));
  async function* later(): AsyncGenerator<RerankAllRequest> {
    yield* requests(3);
  }
  const source = kind === "a list" ? requests(3) : later();
  const run = await runWith(source as Iterable<RerankAllRequest>, { concurrency: 2, maxRequests: 3 });
  expect([run.ids.length, run.error]).toEqual([3, undefined]);
});

test("a request that this machine had no socket for takes none, and the run goes on at its limit", async () => {
  let calls = 0;
  const fetch = async (): Promise<Response> => {
    calls += 1;
    if (calls === 1)
      throw Object.assign(new TypeError("fetch failed"), { cause: networkError("EMFILE", "connect") });
    return Response.json({ data: [0, 1].map((index) => ({ index, relevance_score: 1 })) });
  };
  const client = connect(server.url, { fetch });
  const run = await runWith(requests(2), { concurrency: 4, maxRequests: 2 }, client);
  expect([run.ids.sort(), run.error, run.counts.requests]).toEqual([["r0", "r1"], undefined, 2]);
  calls = 0;
  const one = await runWith(requests(1), { concurrency: 4, maxRequests: 1 }, client);
  expect([one.ids, one.error, one.counts.requests]).toEqual([["r0"], undefined, 1]);
});

test("maxTokens ends a run at the number that the responses count", async () => {
  server.reply((request) => ranked(request, { usage }));
  const { error, counts } = await runWith(requests(20), { concurrency: 1, maxTokens: 25 });
  expect(error).toMatchObject({ limit: "maxTokens", done: 3, tokens: 30 });
  expect(error?.message).toContain("The responses of the run count 30 tokens (maxTokens).");
  expect(counts).toMatchObject({ requests: 3 });
});

test("maxTokens counts what is in flight as far as it can be estimated", async () => {
  server.reply((request) => ranked(request, { usage }));
  // Each request has 43 bytes, which are about eleven tokens until the first response says ten.
  const { error } = await runWith(requests(100), { concurrency: 50, maxTokens: 100 });
  expect(error).toMatchObject({ limit: "maxTokens", tokens: 100 });
});

test("without usage in the responses, maxTokens counts what is estimated", async () => {
  server.reply((request) => ranked(request));
  const { error } = await runWith(requests(100), { concurrency: 1, maxTokens: 30 });
  expect(error).toMatchObject({ limit: "maxTokens", requests: 3, tokens: 0 });
  expect(error?.message).toContain("estimated");
});

test.each(["maxRequests", "maxTokens"])("%s has to be a whole number of at least 1", async (name) => {
  for (const value of [0, 1.5, Number.NaN, "9"])
    expect(() => rerankAll(connect(server.url), requests(1), { [name]: value })).toThrow(name);
});
