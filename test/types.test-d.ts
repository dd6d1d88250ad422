import { describe, expectTypeOf, test } from "vitest";
import {
  checkRanking,
  type RankedRequest,
  type RerankAllAttempt,
  type RerankAllResult,
  rerankAll,
} from "../src/bulk/index.js";
import {
  type CallOptions,
  type CallPromise,
  type CallResponse,
  type Client,
  type ClientOptions,
  type Code,
  type ConstantSchedule,
  codeOfHttpStatus,
  createClient,
  type DatasetFile,
  type HeadersLike,
  isStatusError,
  type JobState,
  type LearningRateScheduler,
  type ReinforcementFineTuningJob,
  type RerankRequest,
  type RerankResponse,
  type RerankResult,
  type StatusCode,
  type StatusError,
  throwIfFailed,
} from "../src/index.js";

declare const client: Client;
declare const job: ReinforcementFineTuningJob;

describe("calls", () => {
  test("resolve to the service's responses", () => {
    const rerank = client.rerank({ query: "q", documents: ["d"] });
    expectTypeOf(rerank).toEqualTypeOf<CallPromise<RerankResponse>>();
    expectTypeOf(client.deployments.scale("prod", 0)).toEqualTypeOf<CallPromise<void>>();
    expectTypeOf(client.reinforcementFineTuningJobs.resume("job-1")).toEqualTypeOf<
      CallPromise<ReinforcementFineTuningJob>
    >();
    expectTypeOf(client.datasets.upload("reviews", "train.jsonl")).toEqualTypeOf<CallPromise<DatasetFile>>();
    expectTypeOf(rerank.withResponse()).resolves.toEqualTypeOf<CallResponse<RerankResponse>>();
    expectTypeOf<Awaited<typeof rerank>["data"]>().toEqualTypeOf<RerankResult[]>();
  });

  test("are checked with what was asked for", async () => {
    const request: RerankRequest = { query: "q", documents: ["d"], top_n: 1 };
    expectTypeOf(checkRanking(request, await client.rerank(request))).toEqualTypeOf<RerankResponse>();
    expectTypeOf(checkRanking).parameter(0).toEqualTypeOf<RankedRequest>();
    // @ts-expect-error: a call is awaited first
    checkRanking(request, client.rerank(request));
    // @ts-expect-error: without its documents nothing can be checked
    checkRanking({ query: "q" }, await client.rerank(request));
  });

  test("of any other operation are unknown unless a type is given", () => {
    const request = { method: "GET", path: "/v1/models" } as const;
    expectTypeOf(client.request(request)).toEqualTypeOf<CallPromise<unknown>>();
    expectTypeOf(client.request<{ name: string }>(request)).resolves.toEqualTypeOf<{ name: string }>();
    // @ts-expect-error: no such method
    client.request({ method: "get", path: "/v1/models" });
    // @ts-expect-error: a request names no account of its own
    client.request(request, { accountId: "acme" });
  });

  test("take the call options last, and no others", () => {
    const { signal } = new AbortController();
    const options = { signal, timeoutMs: 1, maxRetries: 0, accountId: "a", headers: { "x-a": "1" } };
    client.rerank({ query: "q", documents: ["d"] }, options);
    client.deployments.scale("prod", 1, options);
    client.reinforcementFineTuningJobs.resume("job-1", options);
    client.datasets.upload("reviews", "f", { ...options, name: "f", contentType: "a/b", onProgress() {} });
    client.deployments.scale("prod", 1, { signal: undefined, timeoutMs: undefined });
    // @ts-expect-error: timeoutMs, with its unit
    client.deployments.scale("prod", 1, { timeout: 1 });
    // @ts-expect-error: progress is an upload's
    client.deployments.scale("prod", 1, { onProgress() {} });
    // @ts-expect-error: the key is the client's
    client.rerank({ query: "q", documents: ["d"] }, { apiKey: "k" });
    // @ts-expect-error: a signal, not its controller
    client.rerank({ query: "q", documents: ["d"] }, { signal: new AbortController() });
  });

  test("take headers as a record, Headers, a Map or pairs", () => {
    const scale = (headers: CallOptions["headers"]) => client.deployments.scale("prod", 1, { headers });
    scale({ "x-a": "1", "x-b": undefined });
    scale(new Headers());
    scale(new Map([["x-a", "1"]]));
    scale(new Map<string, string | undefined>());
    scale([["x-a", "1"]]);
    scale([["x-b", undefined]] as const);
    createClient({ headers: new Headers() }).withOptions({ headers: new Map<string, string>() });
    rerankAll(client, [], { headers: new Headers() });
    expectTypeOf<Headers>().toExtend<HeadersLike>();
    // @ts-expect-error: a text
    scale({ "x-a": 1 });
    // @ts-expect-error: a text
    scale(new Map([["x-a", 1]]));
    // @ts-expect-error: a Set has no names
    scale(new Set(["x-a"]));
    // @ts-expect-error: a name and a text each
    scale([["x-a"]]);
    // @ts-expect-error: pairs
    scale(["x-a: 1"]);
    // @ts-expect-error: pairs
    scale("x-a: 1");
  });

  test("refuse wrong arguments", () => {
    // @ts-expect-error: a number
    client.deployments.scale("prod", "2");
    // @ts-expect-error: required, since {} could be read as zero
    client.deployments.scale("prod");
    // @ts-expect-error: an id is a string
    client.reinforcementFineTuningJobs.resume(1);
    // @ts-expect-error: resume takes no body
    client.reinforcementFineTuningJobs.resume("job-1", { state: "JOB_STATE_RUNNING" });
    // @ts-expect-error: not a buffer of unknown kind
    client.datasets.upload("reviews", new ArrayBuffer(1));
    // @ts-expect-error: a file is required
    client.datasets.upload("reviews");
  });
});

test("a rerank body takes readonly documents and undefined fields, and refuses others", () => {
  const documents: readonly string[] = ["d"];
  client.rerank({ query: "q", documents, model: undefined, top_n: undefined, task: undefined });
  expectTypeOf<RerankRequest["documents"]>().toEqualTypeOf<readonly string[]>();
  expectTypeOf<RerankRequest["top_n"]>().toEqualTypeOf<number | undefined>();
  // @ts-expect-error: documents are required
  client.rerank({ query: "q" });
  // @ts-expect-error: the query is required
  client.rerank({ documents });
  // @ts-expect-error: the service's spelling is top_n
  client.rerank({ query: "q", documents, topN: 1 });
  // @ts-expect-error: documents are strings
  client.rerank({ query: "q", documents: [{ text: "d" }] });
  // @ts-expect-error: a boolean
  client.rerank({ query: "q", documents, return_documents: "yes" });
});

describe("a client", () => {
  test("takes its documented options and refuses others", () => {
    const options: ClientOptions = {
      baseUrl: "https://api.example.com",
      apiKey: async () => "key",
      accountId: "acme",
      timeoutMs: 1,
      maxRetries: 2,
      fetch: globalThis.fetch,
      headers: { "x-a": undefined },
    };
    expectTypeOf(createClient(options)).toEqualTypeOf<Client>();
    expectTypeOf(createClient()).toEqualTypeOf<Client>();
    expectTypeOf(client.withOptions({ timeoutMs: 1 })).toEqualTypeOf<Client>();
    // @ts-expect-error: baseUrl
    createClient({ baseURL: "https://api.example.com" });
    // @ts-expect-error: a signal is a call's
    createClient({ signal: new AbortController().signal });
    // @ts-expect-error: the connections are shared
    client.withOptions({ fetch: globalThis.fetch });
    // @ts-expect-error: the connections are shared
    client.withOptions({ maxConnections: 1 });
    // @ts-expect-error: a client is not changed
    client.rerank = () => undefined;
  });
});

describe("responses", () => {
  test("leave enumerations open, and keep what is known for completion", () => {
    expectTypeOf(job.state).toEqualTypeOf<JobState | (string & {}) | undefined>();
    expectTypeOf<"JOB_STATE_OF_TOMORROW">().toExtend<NonNullable<typeof job.state>>();
    expectTypeOf<JobState>().toExtend<NonNullable<typeof job.state>>();
    // @ts-expect-error: the enumeration itself is closed
    const state: JobState = "JOB_STATE_OF_TOMORROW";
    expectTypeOf(state).toEqualTypeOf<JobState>();
  });

  test("hold accelerator seconds as strings, and need not hold a document", () => {
    expectTypeOf<NonNullable<typeof job.acceleratorSeconds>[string]>().toEqualTypeOf<string>();
    expectTypeOf<RerankResult["document"]>().toEqualTypeOf<string | undefined>();
    expectTypeOf<RerankResult["index"]>().toEqualTypeOf<number>();
  });
});

test("a learning-rate scheduler is one object whose variants may each be absent", () => {
  const linear: LearningRateScheduler = { linear: { minLrRatio: 0.1 } };
  expectTypeOf(linear.cosine?.decayRatio).toEqualTypeOf<number | undefined>();
  expectTypeOf(linear.constant).toEqualTypeOf<ConstantSchedule | undefined>();
  // @ts-expect-error: an unknown field
  const unknown: LearningRateScheduler = { linear: { warmup: 1 } };
  expectTypeOf(unknown).toEqualTypeOf<LearningRateScheduler>();
});

describe("errors", () => {
  test("have one of 16 codes, which isStatusError narrows", () => {
    expectTypeOf<StatusCode>().toEqualTypeOf<Exclude<Code, "OK">>();
    expectTypeOf<StatusError["code"]>().toEqualTypeOf<StatusCode>();
    expectTypeOf(codeOfHttpStatus(404).code).toEqualTypeOf<StatusCode>();
    const error: unknown = undefined;
    if (isStatusError(error)) expectTypeOf(error).toExtend<StatusError>();
    if (isStatusError(error, "NOT_FOUND")) expectTypeOf(error.code).toEqualTypeOf<"NOT_FOUND">();
    // @ts-expect-error: OK is no failure
    isStatusError(error, "OK");
    // Errors come from jobs too.
    expectTypeOf(throwIfFailed(job)).toEqualTypeOf<void>();
    throwIfFailed({ status: { code: "NOT_FOUND" } });
  });
});

describe("a bulk run", () => {
  test("is an async iterator of results with the caller's own ids, for await using too", () => {
    const run = rerankAll(client, [{ id: 7, query: "q", documents: ["d"] }], {
      maxPauseMs: Number.POSITIVE_INFINITY,
      onAttempt: (event) => expectTypeOf(event).toEqualTypeOf<RerankAllAttempt<number>>(),
    });
    expectTypeOf(run).toExtend<AsyncIterableIterator<RerankAllResult<number>>>();
    expectTypeOf(run.next()).toEqualTypeOf<Promise<IteratorResult<RerankAllResult<number>, undefined>>>();
    expectTypeOf(run[Symbol.asyncDispose]()).toEqualTypeOf<Promise<void>>();
    expectTypeOf<RerankAllAttempt["pauseMs"]>().toEqualTypeOf<number | undefined>();
  });
});
