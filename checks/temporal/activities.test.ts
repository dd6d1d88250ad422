import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { ApplicationFailure, CancelledFailure } from "@temporalio/common";
import { MockActivityEnvironment } from "@temporalio/testing";
import { DefaultLogger } from "@temporalio/worker";
import { createClient } from "tunerank";
import { rerankAll } from "tunerank/bulk";
import {
  type Activities,
  type ActivitiesOptions,
  type CallFailure,
  type ChunkRequest,
  type ChunkResult,
  createActivities,
} from "tunerank/temporal";
import { startRefusing } from "../../test/support/refusals/server.js";
import { freePort, until } from "./support/servers.js";
import { type Service, startService } from "./support/service.js";

const key = "test-key-of-the-activities";
const ranking = { query: "capital of France", documents: ["Rome.", "Paris is the capital of France."] };
let service: Service;
let activities: Activities;
before(async () => {
  service = await startService();
  activities = createActivities(connect(service.url));
});
after(() => service.close());
beforeEach(() => service.reset());

function connect(baseUrl: string) {
  return createClient({ baseUrl, apiKey: key, accountId: "acme", maxRetries: 0 });
}

const logger = new DefaultLogger("ERROR");
type Info = ConstructorParameters<typeof MockActivityEnvironment>[0];

/** Runs an activity as a worker does. */
function within<T>(call: () => Promise<T>, info: Info = {}) {
  const times = { startToCloseTimeoutMs: 20_000, scheduleToCloseTimeoutMs: 0, heartbeatTimeoutMs: 30 };
  const environment = new MockActivityEnvironment({ ...times, ...info }, { logger });
  const heartbeats: Record<string, unknown>[] = [];
  environment.on("heartbeat", (details) => heartbeats.push(details));
  return { environment, heartbeats, result: environment.run(call) as Promise<T> };
}

async function failureOf(result: Promise<unknown>): Promise<ApplicationFailure & { call: CallFailure }> {
  const failure = await result.then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.ok(failure instanceof ApplicationFailure, String(failure));
  const [call] = failure.details as [CallFailure];
  assert.ok(!JSON.stringify([failure.message, failure.stack, failure.details]).includes(key));
  return Object.assign(failure, { call });
}

const operations: Readonly<Record<"rerank" | "scale" | "resume" | "upload", () => Promise<unknown>>> = {
  rerank: () => activities.rerank(ranking),
  scale: () => activities.scale("prod", 2),
  resume: () => activities.resume("job-1"),
  upload: () => activities.upload("reviews", "package.json", { name: "train.jsonl" }),
};
const all = Object.keys(operations) as (keyof typeof operations)[];
const once = ["resume", "upload"] as const;

test("each activity does what its call does", async () => {
  const { data } = await within(() => activities.rerank(ranking)).result;
  assert.equal(data[0]?.index, 1);
  assert.equal(await within(() => activities.scale("prod", 2)).result, undefined);
  assert.equal(
    (await within(() => activities.resume("job-1")).result).name,
    "accounts/acme/reinforcementFineTuningJobs/job-1",
  );
  assert.equal(
    (await within(() => activities.upload("reviews", "package.json")).result).filename,
    "package.json",
  );
  assert.equal(((await within(operations.upload).result) as { filename: string }).filename, "train.jsonl");
  assert.deepEqual(
    service.requests.map(({ operation }) => operation),
    ["rerank", "scale", "resume", "upload", "upload"],
  );
});

const failures = [
  // What happens, the failure's type, and of rerank, scale, resume and upload: may it be repeated?
  [{ status: 503 }, "UNAVAILABLE", [true, true, false, false]],
  [{ code: "UNAVAILABLE" }, "UNAVAILABLE", [true, true, true, true]],
  [{ code: "RESOURCE_EXHAUSTED" }, "RESOURCE_EXHAUSTED", [true, true, true, true]],
  [{ code: "INTERNAL" }, "INTERNAL", [true, false, false, false]],
  [{ code: "DATA_LOSS" }, "DATA_LOSS", [false, false, false, false]],
  [{ code: "INVALID_ARGUMENT" }, "INVALID_ARGUMENT", [false, false, false, false]],
  [{ code: "PERMISSION_DENIED" }, "PERMISSION_DENIED", [false, false, false, false]],
  [{ code: "UNAUTHENTICATED" }, "UNAUTHENTICATED", [false, false, false, false]],
  [{ code: "ABORTED" }, "ABORTED", [false, false, false, false]],
  [{ reset: true }, "UNAVAILABLE", [true, true, false, false]],
] as const;

for (const [happens, type, repeats] of failures) {
  test(`${JSON.stringify(happens)} is a failure of type ${type}, repeated where that is right`, async () => {
    for (const [index, operation] of all.entries()) {
      service.reset();
      service.fail(operation, { ...happens, times: 9 });
      const { type: given, nonRetryable, call } = await failureOf(within(operations[operation]).result);
      assert.equal(given, type);
      assert.equal(call.code, type);
      assert.equal(nonRetryable, !repeats[index], operation);
      assert.equal(service.requests.length, 1);
    }
  });
}

test("a Retry-After is the failure's nextRetryDelay, unless it is not repeated at all", async () => {
  service.fail("rerank", { code: "RESOURCE_EXHAUSTED", retryAfter: 120 });
  const failure = await failureOf(within(operations.rerank).result);
  assert.deepEqual([failure.nextRetryDelay, failure.nonRetryable], [120_000, false]);
  assert.equal(failure.call.retryAfterMs, 120_000);
  service.fail("rerank", { code: "PERMISSION_DENIED", retryAfter: 120 });
  assert.equal((await failureOf(within(operations.rerank).result)).nextRetryDelay, undefined);
});

test("the details tell of the call, and hold neither key nor body", async () => {
  service.fail("upload", {
    code: "NOT_FOUND",
    message: "No such dataset.",
    headers: { "x-request-id": "r-1" },
  });
  const { call } = await failureOf(within(operations.upload).result);
  assert.deepEqual(Object.keys(call).sort(), [
    "code",
    "executed",
    "executedBecause",
    "httpStatus",
    "message",
    "notRetried",
    "operation",
    "path",
    "requestId",
    "requests",
  ]);
  assert.equal(call.requestId, "r-1");
  assert.match(call.message, /^\[NOT_FOUND\] No such dataset\./);
});

for (const operation of once) {
  test(`${operation}: a second attempt sends nothing unless the first recorded that it may`, async () => {
    const refused: Info[] = [
      { attempt: 2 },
      { attempt: 2, heartbeatDetails: { attempt: 1 } },
      { attempt: 2, heartbeatDetails: { attempt: 1, sentBytes: 0, totalBytes: 9 } },
      { attempt: 2, heartbeatDetails: { attempt: 1, mayRetry: false } },
      // Of an earlier attempt: the last one said nothing.
      { attempt: 3, heartbeatDetails: { attempt: 1, mayRetry: true } },
      // Somebody set the count of attempts back.
      { attempt: 1, heartbeatDetails: { attempt: 4 } },
      { attempt: 2, heartbeatDetails: "of another activity" },
    ];
    for (const info of refused) {
      const { type, nonRetryable, call } = await failureOf(within(operations[operation], info).result);
      assert.deepEqual([type, nonRetryable, call.executed], ["UNKNOWN", true, "unknown"]);
      assert.match(call.message, /sends nothing.*check the/);
    }
    assert.equal(service.requests.length, 0);
    await within(operations[operation], { attempt: 2, heartbeatDetails: { attempt: 1, mayRetry: true } })
      .result;
    assert.equal(service.requests.length, 1);
  });

  test(`${operation}: what it records of a failure`, async () => {
    const away = createActivities(connect(`http://127.0.0.1:${await freePort()}`));
    const calls = {
      resume: () => away.resume("job-1"),
      upload: () => away.upload("reviews", "package.json"),
    };
    const unsent = within<unknown>(calls[operation], { attempt: 1 });
    assert.equal((await failureOf(unsent.result)).call.executedBecause, "nothing-sent");
    assert.deepEqual(unsent.heartbeats.at(-1), { attempt: 1, mayRetry: true });
    service.fail(operation, { reset: true });
    const sent = within(operations[operation]);
    await failureOf(sent.result);
    assert.deepEqual(sent.heartbeats.at(-1), { attempt: 1, mayRetry: false });
  });
}

test("a rerank and a scale begin at any attempt", async () => {
  await within(operations.rerank, { attempt: 7 }).result;
  await within(operations.scale, { attempt: 7 }).result;
  assert.equal(service.requests.length, 2);
});

test("a cancellation aborts the call, and is told as Temporal's own failure", async () => {
  service.fail("upload", { stall: true });
  const { environment, heartbeats, result } = within(operations.upload);
  await until(() => service.requests.length === 1);
  environment.cancel();
  const failure = await result.catch((error: unknown) => error);
  assert.ok(failure instanceof CancelledFailure);
  const [call] = failure.details as [CallFailure];
  assert.deepEqual([call.code, call.executed], ["CANCELLED", "unknown"]);
  assert.deepEqual(heartbeats.at(-1), { attempt: 1, mayRetry: false });
  await until(() => service.ended.some(({ status }) => status === undefined));
});

test("what is cancelled before it is sent may start on another worker", async () => {
  const { environment, heartbeats, result } = within(operations.resume);
  environment.cancel("WORKER_SHUTDOWN");
  await assert.rejects(result, CancelledFailure);
  assert.deepEqual(heartbeats.at(-1), { attempt: 1, mayRetry: true });
});

test("the call ends before the activity's time, with a failure of its own", async () => {
  service.fail("rerank", { stall: true });
  const { type, nonRetryable, call } = await failureOf(
    within(operations.rerank, { startToCloseTimeoutMs: 300 }).result,
  );
  assert.deepEqual([type, nonRetryable, call.executed], ["DEADLINE_EXCEEDED", false, "unknown"]);
  assert.match(call.message, /No complete response within 2\d\d ms \(timeoutMs\)\./);
  service.fail("resume", { stall: true });
  const resume = await failureOf(within(operations.resume, { startToCloseTimeoutMs: 300 }).result);
  assert.deepEqual([resume.type, resume.nonRetryable], ["DEADLINE_EXCEEDED", true]);
});

test("heartbeats carry the progress of an upload and of a chunk", async () => {
  service.fail("upload", { delayMs: 200 });
  const upload = within(operations.upload);
  await upload.result;
  const sent = upload.heartbeats.at(-1);
  assert.ok(sent?.totalBytes !== undefined && sent.sentBytes === sent.totalBytes, JSON.stringify(sent));
  service.fail("rerank", { delayMs: 60, times: 4 });
  const requests = ["a", "b", "c", "d"].map((id) => ({ id, ...ranking }));
  const chunked = chunkActivities(requests, { partRows: 1, concurrency: 1 });
  const chunk = within(() => chunked.rerankChunk(5));
  await chunk.result;
  const counted = chunk.heartbeats.filter(({ done }) => done !== undefined);
  assert.ok(counted.some(({ done }) => done === 1 || done === 2 || done === 3));
  for (const { done, ...rest } of counted) assert.deepEqual(rest, { attempt: 1, chunk: 5, of: 4 });
});

const rows = (count: number): ChunkRequest[] =>
  Array.from({ length: count }, (_, row) => ({ id: `r${row}`, ...ranking }));

/** Activities that keep the parts they write in memory. */
function chunkActivities(requests: readonly ChunkRequest[] | undefined, options: ActivitiesOptions = {}) {
  const parts = new Map<string, readonly ChunkResult[]>();
  const chunked = createActivities(connect(service.url), {
    readChunk: () => requests,
    writePart: (_n, part, written) => void parts.set(part, written),
    readParts: () => [...parts.values()],
    ...options,
  });
  const ids = () => [...parts.values()].flat().map(({ id }) => id);
  return { ...chunked, parts, ids };
}

test("a chunk and rerankAll of tunerank/bulk on one client share one limit", async () => {
  const slow = await startRefusing();
  slow.delayMs = 500;
  const client = connect(slow.url);
  const { rerankChunk } = createActivities(client, {
    readChunk: () => rows(6),
    writePart: () => {},
    readParts: () => [],
  });
  const chunk = within(() => rerankChunk(0));
  let ranked = 0;
  for await (const { error } of rerankAll(client, rows(6))) if (!error) ranked += 1;
  assert.deepEqual([ranked, await chunk.result], [6, { ranked: 6, failed: 0 }]);
  // A run begins with four: the fifth request of both together waits for a response.
  assert.ok((slow.requests[4]?.ms ?? 0) >= 490, JSON.stringify(slow.requests.map(({ ms }) => ms)));
  slow.close();
});

test("a chunk is written in parts, and what the service refuses is a row with its error", async () => {
  const requests = rows(30);
  // This one the client refuses itself.
  requests[4] = { id: "wrong", query: "q", documents: [] };
  const given: unknown[] = [];
  const chunked = chunkActivities(requests, {
    partRows: 8,
    readChunk: (...args) => {
      given.push(args);
      return Promise.resolve(requests);
    },
  });
  assert.deepEqual(await within(() => chunked.rerankChunk(2, "nightly")).result, { ranked: 29, failed: 1 });
  assert.deepEqual(given, [[2, "nightly"]]);
  assert.deepEqual(
    [...chunked.parts.values()].map(({ length }) => length),
    [8, 8, 8, 6],
  );
  for (const part of chunked.parts.keys()) assert.match(part, /^[\w-]{8,}$/);
  assert.deepEqual(chunked.ids().sort(), requests.map(({ id }) => id).sort());
  const written = [...chunked.parts.values()].flat();
  assert.equal(written.find(({ id }) => id === "wrong")?.error?.code, "INVALID_ARGUMENT");
  assert.equal(written.find(({ id }) => id === "r0")?.response?.data[0]?.index, 1);
  assert.ok(service.requests.every(({ body }) => !("id" in (body as object))));
});

test("a row that fails until its time is over is a row with its error, and the others are ranked", async () => {
  service.fail("rerank", { status: 503, times: Number.POSITIVE_INFINITY });
  const chunked = chunkActivities(rows(3), { timeoutMs: 300 });
  assert.deepEqual(await within(() => chunked.rerankChunk(0)).result, { ranked: 0, failed: 3 });
  // Its last attempt may be under way when its time is over.
  assert.match(`${[...chunked.parts.values()].flat()[0]?.error?.code}`, /^(UNAVAILABLE|DEADLINE_EXCEEDED)$/);
});

test("a key that is refused midway fails for good; what got a response is written, and skipped the next time", async () => {
  service.fail("rerank", { delayMs: 1, times: 12 });
  service.fail("rerank", { code: "UNAUTHENTICATED", times: 99 });
  const chunked = chunkActivities(rows(30), { concurrency: 1 });
  const { type, nonRetryable } = await failureOf(within(() => chunked.rerankChunk(0)).result);
  assert.deepEqual([type, nonRetryable], ["UNAUTHENTICATED", true]);
  assert.equal(chunked.ids().length, 12);
  service.reset();
  assert.deepEqual(await within(() => chunked.rerankChunk(0)).result, { ranked: 30, failed: 0 });
  assert.equal(service.requests.length, 18);
  assert.equal(new Set(chunked.ids()).size, 30);
});

test("a cancellation writes what got a response, and nothing is sent after it", async () => {
  const chunked = chunkActivities(rows(40), { concurrency: 2 });
  service.fail("rerank", { delayMs: 20, times: Number.POSITIVE_INFINITY });
  const { environment, result } = within(() => chunked.rerankChunk(0));
  await until(() => service.requests.length >= 10);
  environment.cancel();
  await assert.rejects(result, CancelledFailure);
  const sent = service.requests.length;
  assert.ok(chunked.ids().length >= sent - 2 && sent < 40, `${chunked.ids().length} of ${sent}`);
  // The next request that the service counts is this one.
  await within(() => activities.scale("prod", 1)).result;
  assert.equal(service.requests.length, sent + 1);
});

test("a part that could not be written is kept and written again, and nothing of it is ranked again", async () => {
  let refusals = 2;
  const chunked = chunkActivities(rows(4), {
    writePart: (_n, part, written) => {
      if (refusals-- > 0) throw new Error("The store is away.");
      chunked.parts.set(part, written);
    },
  });
  assert.deepEqual(await within(() => chunked.rerankChunk(0)).result, { ranked: 4, failed: 0 });
  assert.equal(refusals, -1);
  assert.equal(service.requests.length, 4);
  assert.equal(new Set(chunked.ids()).size, 4);
});

for (const name of ["readChunk", "readParts", "writePart"] as const) {
  test(`${name} that never settles ends with the cancel`, async () => {
    let isCalled = false;
    const never = () => {
      isCalled = true;
      return new Promise<never>(() => {});
    };
    const { environment, result } = within(() => chunkActivities(rows(2), { [name]: never }).rerankChunk(0));
    await until(() => isCalled);
    environment.cancel();
    await assert.rejects(result, CancelledFailure);
  });
}

test("documents are returned only where they are asked for", async () => {
  for (const more of [{}, { return_documents: true }, { return_documents: false }])
    await within(() => activities.rerank({ ...ranking, ...more })).result;
  assert.deepEqual(
    service.requests.map(({ body }) => (body as { return_documents?: boolean }).return_documents),
    [false, true, false],
  );
});

test("a result that is too large for Temporal fails for good, with its limit, and is not paid for again", async () => {
  const documents = Array.from({ length: 30 }, (_, index) => `${index}`.repeat(50_000));
  const large = await failureOf(
    within(() => activities.rerank({ query: "q", documents, return_documents: true })).result,
  );
  assert.deepEqual([large.type, large.nonRetryable], ["RESOURCE_EXHAUSTED", true]);
  assert.equal(large.call.executed, "yes");
  assert.match(
    large.message,
    /The result is 2\d{6} bytes of JSON: Temporal takes at most 2 MB, here 2096128 bytes/,
  );
  assert.equal((await within(() => activities.rerank({ query: "q", documents })).result).data.length, 30);
  const own = createActivities(connect(service.url), { maxResultBytes: 100 });
  assert.match((await failureOf(within(() => own.rerank(ranking)).result)).message, /here 100 bytes/);
});

test("a ranking that cannot be joined fails for good", async () => {
  service.answer("rerank", { object: "list", model: "m", data: [{ index: 9, relevance_score: 1 }] });
  const { type, nonRetryable, call } = await failureOf(within(operations.rerank).result);
  assert.deepEqual([type, nonRetryable, call.executed], ["INTERNAL", true, "yes"]);
  assert.match(call.message, /is outside the list of 2 documents/);
  const chunked = chunkActivities(rows(2));
  assert.deepEqual(await within(() => chunked.rerankChunk(0)).result, { ranked: 0, failed: 2 });
});

test("a service that asks for a longer wait than a run's is asked again by Temporal after it", async () => {
  service.fail("rerank", { code: "RESOURCE_EXHAUSTED", retryAfter: 120, times: 99 });
  const failure = await failureOf(within(() => chunkActivities(rows(2)).rerankChunk(0)).result);
  assert.deepEqual([failure.nextRetryDelay, failure.nonRetryable], [120_000, false]);
});

test("input that is missing or wrong fails for good, with words, and sends nothing", async () => {
  const gone = Object.assign(new Error("no such file"), { code: "ENOENT" });
  const twice = [...rows(2), ...rows(1)];
  for (const [chunked, type, words] of [
    [activities, "INVALID_ARGUMENT", /readChunk, writePart and readParts/],
    [chunkActivities(undefined), "NOT_FOUND", /no chunk 7 of "nightly" to read.*start the workflow again/],
    [chunkActivities([], { readChunk: () => Promise.reject(gone) }), "NOT_FOUND", /no chunk 7/],
    [chunkActivities(twice), "INVALID_ARGUMENT", /Two rows of chunk 7 have the id "r0"/],
    [chunkActivities([ranking as never]), "INVALID_ARGUMENT", /Row 0 of chunk 7 has no id/],
  ] as const) {
    const failure = await failureOf(within(() => chunked.rerankChunk(7, "nightly")).result);
    assert.deepEqual([failure.type, failure.nonRetryable], [type, true]);
    assert.match(failure.message, words);
  }
  const away = chunkActivities([], { readChunk: () => Promise.reject(new Error("The store is away.")) });
  await assert.rejects(within(() => away.rerankChunk(7)).result, /^Error: The store is away/);
  assert.equal(service.requests.length, 0);
});

test("options that cannot be used are refused when the activities are made", () => {
  const make = (options: object) => () => createActivities(connect(service.url), options);
  assert.throws(make({ readChunks: 1 }), /did you mean readChunk/);
  assert.throws(make({ concurrency: 0 }), /concurrency/);
  assert.throws(make({ timeoutMs: -1 }), /timeoutMs/);
  assert.throws(make({ partRows: 0 }), /partRows/);
});

test("a file is opened by name, and one that cannot be opened was not sent", async () => {
  const opening = createActivities(connect(service.url), {
    openFile: async (name) => {
      if (name === "missing") throw new Error("The store is away.");
      return new Blob([`${name}\n`]);
    },
  });
  const stored = await within(() => opening.upload("reviews", "s3://a/b", { name: "b.jsonl" })).result;
  assert.deepEqual([stored.filename, stored.bytes], ["b.jsonl", 9]);
  const { heartbeats, result } = within(() => opening.upload("reviews", "missing"));
  await assert.rejects(result, /The store is away/);
  assert.deepEqual(heartbeats.at(-1), { attempt: 1, mayRetry: true });
  const never = createActivities(connect(service.url), { openFile: () => new Promise(() => {}) });
  const opens = within(() => never.upload("reviews", "s3://a/b"));
  opens.environment.cancel();
  await assert.rejects(opens.result, CancelledFailure);
  assert.deepEqual(opens.heartbeats.at(-1), { attempt: 1, mayRetry: true });
});
