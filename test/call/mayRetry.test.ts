import { randomBytes } from "node:crypto";
import http from "node:http";
import { connect as connectSocket } from "node:net";
import { Readable } from "node:stream";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { mayRetry } from "../../src/adapters/queues.js";
import { failureOptions } from "../../src/adapters/temporalFailure.js";
import {
  type Client,
  StatusError,
  type StatusErrorDetails,
  type UploadFile,
  type UploadProgress,
} from "../../src/index.js";
import { createTestService, type ScriptedFailure } from "../../src/testing/index.js";
import { useNoBackoff } from "../support/backoff.js";
import { connect, failureOf, operationCalls, transports } from "../support/clients.js";
import { sha256, useRecordingServer } from "../support/recordingServer.js";
import { refusingPort } from "../support/refusingPort.js";
import { inTurn, unavailable } from "../support/responses.js";
import { ending } from "../support/servers.js";
import { useTemporaryFile } from "../support/temporaryFile.js";

describe("who may repeat", () => {
  const service = createTestService();
  const client = connect("https://api.example.com", { fetch: service.fetch });
  afterEach(() => service.reset());
  // What befalls a call, and for resume, rerank, scale and upload: may a queue run it again?
  const failures: readonly (readonly [ScriptedFailure, readonly boolean[]])[] = [
    [{ status: 503 }, [false, true, true, false]],
    [{ code: "UNAVAILABLE" }, [true, true, true, true]],
    // The name and the status disagree: the stricter of the two counts.
    [{ code: "UNAVAILABLE", status: 500 }, [false, true, true, false]],
    [{ code: "RESOURCE_EXHAUSTED" }, [true, true, true, true]],
    [{ code: "RESOURCE_EXHAUSTED", retryAfter: 3600 }, [true, true, true, true]],
    [{ status: 425 }, [true, true, true, true]],
    [{ status: 504 }, [false, true, true, false]],
    [{ code: "INTERNAL" }, [false, true, false, false]],
    [{ code: "DATA_LOSS" }, [false, false, false, false]],
    [{ code: "ABORTED" }, [false, false, false, false]],
    [{ code: "UNAUTHENTICATED" }, [false, false, false, false]],
    [{ code: "INVALID_ARGUMENT" }, [false, false, false, false]],
    [{ reset: true }, [false, true, true, false]],
    [{ truncate: true }, [false, true, true, false]],
  ];

  test.each(failures)(
    "the error of a call that met %j tells what a queue may do",
    async (failure, expected) => {
      const found: boolean[] = [];
      for (const [at, operation] of (["resume", "rerank", "scale", "upload"] as const).entries()) {
        service.fail(operation, failure);
        found.push(mayRetry(await failureOf(async () => operationCalls[at]?.call(client))));
      }
      expect(found).toEqual(expected);
    },
  );

  test("what ran is run again by the first attempt of a job alone, whoever retries", async () => {
    service.answer("rerank", {} as never);
    const rerank = (maxRetries: number) =>
      failureOf(() => client.withOptions({ maxRetries }).rerank({ query: "q", documents: ["d"] }));
    const retried = await rerank(2);
    expect([retried.executed, retried.attempts.length, mayRetry(retried)]).toEqual(["yes", 2, false]);
    const error = await rerank(0);
    expect([1, 2, 3].map((attempt) => mayRetry(error, attempt))).toEqual([true, false, false]);
    expect([1, 2].map((attempt) => failureOptions(error, attempt).nonRetryable)).toEqual([false, true]);
    service.fail("rerank", { code: "UNAVAILABLE" });
    const unavailable = await rerank(0);
    expect([1, 2, 100].map((attempt) => mayRetry(unavailable, attempt))).toEqual([true, true, true]);
  });

  describe("an error of one's own", () => {
    const error = (details: Partial<StatusErrorDetails>) =>
      new StatusError("x", { code: "UNAVAILABLE", executed: "unknown", codeSource: "client", ...details });

    test.each<[boolean, Partial<StatusErrorDetails>]>([
      [true, { executed: "no" }],
      [true, { operation: "rerankDocuments" }],
      [true, { operation: "uploadDatasetFile", codeSource: "body" }],
      [true, { operation: "request", method: "PUT" }],
      [false, {}],
      [false, { operation: "uploadDatasetFile" }],
      [false, { operation: "request", method: "POST" }],
      [false, { executed: "no", code: "NOT_FOUND" }],
      [false, { executed: "no", code: "UNAUTHENTICATED" }],
    ])("%s for %j", (expected, details) => {
      expect(mayRetry(error(details))).toBe(expected);
    });

    test.each([undefined, null, "UNAVAILABLE", new Error("x"), { code: "UNAVAILABLE", executed: "no" }])(
      "is none: %s is not repeated",
      (value) => expect(mayRetry(value)).toBe(false),
    );
  });
});

describe("an upload that is repeated", () => {
  const server = useRecordingServer();
  useNoBackoff();
  const content = randomBytes(1_500_007);
  const file = useTemporaryFile(content);

  const replayable: readonly (readonly [what: string, file: () => UploadFile])[] = [
    ["a path", () => file],
    ["a Blob", () => new Blob([content])],
    ["bytes", () => content],
  ];

  const received = () => server.requests.map(({ files }) => files.map((one) => one.sha256));

  /** An agent whose first connections go to a port nobody listens on. */
  async function refusingAgent(times: number): Promise<http.Agent> {
    const { port, close } = await refusingPort();
    onTestFinished(close);
    const ports = [...Array<number>(times).fill(port), Number(new URL(server.url).port)];
    const createConnection = () => connectSocket(ports.shift() ?? 0, "127.0.0.1");
    return Object.assign(ending(new http.Agent()), { createConnection });
  }

  describe.each(transports)("over $name", ({ options }) => {
    const retrying = (): Client => connect(server.url, { maxRetries: 2, ...options });

    test.each(replayable)(
      "an upload of %s is repeated with the same bytes, and its onProgress never goes back",
      async (_what, source) => {
        server.reply(inTurn(unavailable, unavailable, { json: { id: "file-1" } }));
        const seen: UploadProgress[] = [];
        const onProgress = (progress: UploadProgress) => seen.push(progress);
        const call = { name: "train.jsonl", onProgress };
        expect(await retrying().datasets.upload("reviews", source(), call)).toEqual({ id: "file-1" });
        expect(received()).toEqual(Array(3).fill([sha256(content)]));
        const sent = seen.map(({ sentBytes }) => sentBytes);
        expect(sent).toEqual([...sent].sort((a, b) => a - b));
        expect(seen.at(-1)).toEqual({ sentBytes: content.byteLength, totalBytes: content.byteLength });
      },
    );

    const uploadStream = (client: Client) =>
      failureOf(() => client.datasets.upload("reviews", Readable.from([content]), { name: "train.jsonl" }));

    test("a stream that was read is not sent again", async () => {
      server.reply(unavailable);
      const error = await uploadStream(retrying());
      expect(error).toMatchObject({
        code: "UNAVAILABLE",
        executed: "unknown",
        notRetried: "single-use-body",
      });
      expect(error.hint).toMatch(/a stream can be read only once/);
      expect(received()).toEqual([[sha256(content)]]);
    });

    test("a stream that was read is not sent again with a fresh key either", async () => {
      server.reply({ status: 401, json: {} });
      let asked = 0;
      const client = retrying().withOptions({ apiKey: () => `key-${++asked}` });
      expect(await uploadStream(client)).toMatchObject({ code: "UNAUTHENTICATED", executed: "no" });
      expect(server.requests).toHaveLength(1);
    });
  });

  // A fetch function sends no stream: there it is read whole before anything is known of a connection.
  test("over node:http a stream is sent once a connection comes, after some were refused", async () => {
    const client = connect(server.url, { maxRetries: 2, agent: await refusingAgent(2) });
    const { attempts } = await client.datasets
      .upload("reviews", Readable.from([content]), { name: "train.jsonl" })
      .withResponse();
    expect(attempts.map(({ code }) => code)).toEqual(["UNAVAILABLE", "UNAVAILABLE", undefined]);
    expect(received()).toEqual([[sha256(content)]]);
  });

  test("over node:http a stream whose connections were all refused has not been read", async () => {
    const client = connect(server.url, { maxRetries: 2, agent: await refusingAgent(3) });
    let read = 0;
    const stream = new Readable({
      read() {
        read += 1;
      },
    });
    const error = await failureOf(() => client.datasets.upload("reviews", stream, { name: "train.jsonl" }));
    expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "no", codeSource: "transport" });
    expect([error.attempts.length, read, server.requests.length]).toEqual([3, 0, 0]);
  });
});
