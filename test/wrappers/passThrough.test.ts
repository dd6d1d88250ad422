import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { connect, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();

describe.each(transports)("over $name", ({ options }) => {
  test("values and fields newer than the contract pass through", async () => {
    const job = {
      dataset: "accounts/acme/datasets/d",
      evaluator: "accounts/acme/evaluators/e",
      state: "JOB_STATE_TELEPORTING",
      purpose: "PURPOSE_PRODUCTION",
      status: { code: "TOO_EARLY", message: "m", details: [{ "@type": "x" }] },
      trainingConfig: { lrScheduler: { exponential: { gamma: 0.9 } }, rank: null },
      labels: { team: "search" },
    };
    server.reply({ json: job });
    expect(await connect(server.url, options).reinforcementFineTuningJobs.resume("job-1")).toEqual(job);
  });

  test("a rerank answer is neither sorted, nor clamped, nor filled in", async () => {
    const answer = {
      object: "list",
      model: "m",
      data: [
        { index: 9, relevance_score: -3.5 },
        { index: 0, relevance_score: 12, document: null, extra: true },
      ],
      usage: { prompt_tokens: 1 },
    };
    server.reply({ json: answer });
    expect(await connect(server.url, options).rerank({ query: "q", documents: ["d"] })).toEqual(answer);
  });

  test("acceleratorSeconds stay strings, from which BigInt loses nothing", async () => {
    server.reply({
      json: { dataset: "d", evaluator: "e", acceleratorSeconds: { a: "9007199254740993", b: "5400" } },
    });
    const job = await connect(server.url, options).reinforcementFineTuningJobs.resume("job-1");
    expect(job.acceleratorSeconds).toEqual({ a: "9007199254740993", b: "5400" });
    const seconds = Object.values(job.acceleratorSeconds ?? {}).map((value) => BigInt(value));
    expect(seconds).toEqual([9007199254740993n, 5400n]);
    expect(seconds.reduce((sum, value) => sum + value, 0n)).toBe(9007199254746393n);
  });

  test("a field named __proto__ changes no prototype", async () => {
    server.reply({ text: '{"dataset":"d","evaluator":"e","__proto__":{"polluted":true}}' });
    const job = await connect(server.url, options).reinforcementFineTuningJobs.resume("job-1");
    expect(Object.getPrototypeOf(job)).toBe(Object.prototype);
    expect((job as unknown as { polluted?: boolean }).polluted).toBeUndefined();
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  const text = JSON.stringify({ dataset: "données 検索 🔎", evaluator: "e" });
  test.each([
    ["gzip", gzipSync(text)],
    ["br", brotliCompressSync(text)],
    ["deflate", deflateSync(text)],
  ])("an answer in %s is decoded", async (encoding, bytes) => {
    server.reply({ text: bytes, headers: { "content-encoding": encoding } });
    const job = await connect(server.url, options).reinforcementFineTuningJobs.resume("job-1");
    expect(job.dataset).toBe("données 検索 🔎");
  });

  test("an answer is read as JSON whatever its content type, a byte order mark before it included", async () => {
    server.reply({ text: `\uFEFF${text}`, headers: { "content-type": "text/plain" } });
    const job = await connect(server.url, options).reinforcementFineTuningJobs.resume("job-1");
    expect(job.dataset).toBe("données 検索 🔎");
  });
});
