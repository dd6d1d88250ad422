// What the package does, checked the same way in every runtime. Web interfaces only.
import { bytes, equal, failure, sha256 } from "./checking.js";

/** Checks of what every runtime does. */
export const behaviour = {
  async "reranks documents"({ client, received, id }) {
    const query = id("q");
    const { data } = await client.rerank({ query, documents: ["three", "a", "to"] });
    equal(
      data.map(({ index }) => index),
      [1, 2, 0],
    );
    const [request, ...others] = await received(query);
    equal(others, []);
    equal(
      [request.method, request.url, request.authorization],
      ["POST", "/inference/v1/rerank", "Bearer runtime-key"],
    );
    equal([request.type, request.body.documents], ["application/json", ["three", "a", "to"]]);
  },
  async "ranks items of one's own"({ client, id }) {
    const items = [{ t: "long text" }, { t: "s" }];
    const best = await client.rerank.items(id("q"), items, { text: ({ t }) => t, topN: 1 });
    equal(
      best.map(({ item, index }) => [item === items[1], index]),
      [[true, 1]],
    );
  },
  async "scales to zero"({ client, received, id }) {
    equal(await client.deployments.scale(id("ok"), 0), undefined);
    const [request] = await received(id("ok"));
    equal([request.method, request.url], ["PATCH", `/v1/accounts/acme/deployments/${id("ok")}:scale`]);
    equal(request.body, { replicaCount: 0 });
  },
  async "resumes a job, unknown fields kept"({ client, received, id }) {
    const job = await client.reinforcementFineTuningJobs.resume(id("ok2"));
    equal([job.state, job.unknownField], ["JOB_STATE_RUNNING", 1]);
    equal((await received(id("ok2")))[0].body, {});
  },
  async "uploads bytes"({ client, received, id }) {
    const stored = await client.datasets.upload(id("bytes"), bytes(300_000), { name: "a b.jsonl" });
    equal([stored.filename, stored.bytes], ["a b.jsonl", 300_000]);
    const [{ file, length }] = await received(id("bytes"));
    equal(file, { name: "a b.jsonl", bytes: 300_000, sha256: await sha256(bytes(300_000)) });
    if (!Number(length)) throw new Error("The upload was sent without its length.");
  },
  async "uploads a File with progress"({ client, received, id }) {
    const file = new File([bytes(200_000)], "train.jsonl");
    const told = [];
    await client.datasets.upload(id("file"), file, { onProgress: (progress) => told.push(progress) });
    equal(told.at(-1), { sentBytes: 200_000, totalBytes: 200_000 });
    equal((await received(id("file")))[0].file.sha256, await sha256(bytes(200_000)));
  },
  async "uploads a stream"({ client, received, id }) {
    const stream = new Blob([bytes(100_000)]).stream();
    await client.datasets.upload(id("stream"), stream, { name: "s", size: 100_000 });
    equal((await received(id("stream")))[0].file.sha256, await sha256(bytes(100_000)));
  },
  async "refuses a stream that was read before"({ client, received, id }) {
    const stream = new Blob([bytes(100_000)]).stream();
    const reader = stream.getReader();
    await reader.read();
    reader.releaseLock();
    const error = await failure(client.datasets.upload(id("read"), stream, { name: "s" }));
    equal([error.code, error.executed], ["FAILED_PRECONDITION", "no"]);
    equal(await received(id("read")), []);
  },
  async "refuses bytes whose buffer was transferred"({ client, received, id }) {
    const data = bytes(9);
    structuredClone(data.buffer, { transfer: [data.buffer] });
    const error = await failure(client.datasets.upload(id("gone"), data, { name: "b" }));
    equal([error.code, error.executed], ["FAILED_PRECONDITION", "no"]);
    equal(await received(id("gone")), []);
  },
  async "opens a path, or says that it cannot"({ client, received, id, place }) {
    if (place.path === undefined) {
      const error = await failure(client.datasets.upload(id("path"), "train.jsonl"));
      equal([error.code, error.executed], ["INVALID_ARGUMENT", "no"]);
    } else {
      await client.datasets.upload(id("path"), place.path);
      equal((await received(id("path")))[0].file.bytes > 0, true);
    }
  },
  async "reads an error of the service"({ client, isStatusError, id }) {
    const error = await failure(client.deployments.scale(id("missing"), 1));
    equal([isStatusError(error, "NOT_FOUND"), error.executed, error.httpStatus], [true, "no", 404]);
    equal([error.message, error.requestId], [`[NOT_FOUND] There is no such thing. ${error.hint}`, "r-1"]);
    equal(JSON.stringify(error).includes("runtime-key"), false);
  },
  async "repeats what is safe"({ client, received, id }) {
    await client.deployments.scale(id("flaky"), 1);
    equal((await received(id("flaky"))).length, 2);
  },
  async "repeats nothing that may have run"({ client, received, id }) {
    const error = await failure(client.reinforcementFineTuningJobs.resume(id("bare502")));
    equal([error.code, error.executed, error.inferred], ["UNAVAILABLE", "unknown", true]);
    equal((await received(id("bare502"))).length, 1);
  },
  async "meets its deadline"({ client, id }) {
    const started = Date.now();
    const error = await failure(client.deployments.scale(id("silent"), 1, { timeoutMs: 300, maxRetries: 0 }));
    equal([error.code, error.executed], ["DEADLINE_EXCEEDED", "unknown"]);
    if (Date.now() - started > 2_000) throw new Error("It was late.");
  },
  async "is cancelled by its signal"({ client, id }) {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 100);
    const error = await failure(
      client.reinforcementFineTuningJobs.resume(id("silent-b"), { signal: controller.signal }),
    );
    equal(error.code, "CANCELLED");
  },
  async "follows no redirect"({ client, received, id }) {
    await failure(client.deployments.scale(id("moved"), 1, { maxRetries: 0 }));
    equal((await received(id("moved"))).length, 1);
  },
  async "decodes a compressed response"({ client, id }) {
    equal((await client.reinforcementFineTuningJobs.resume(id("gzip"))).state, "JOB_STATE_RUNNING");
  },
  async "gives the response around the value"({ client, id }) {
    const { httpStatus, requestId, headers, attempts } = await client.deployments
      .scale(id("ok3"), 1)
      .withResponse();
    equal([httpStatus, requestId, headers["x-request-id"], attempts.length], [200, "r-1", "r-1", 1]);
  },
  async "says that nobody listens"({ make, place }) {
    const client = make({ baseUrl: place.closedUrl, maxRetries: 0 });
    const error = await failure(client.rerank({ query: "q", documents: ["d"] }));
    equal(error.code, "UNAVAILABLE");
    // Where the platform does not say why, nothing is proved.
    equal(["no", "unknown"].includes(error.executed), true);
    // A page is never told whether it was CORS.
    if (typeof document === "object") equal(error.message.includes("CORS"), true);
  },
  async "refuses wrong arguments before anything is sent"({ client, received, id }) {
    const error = await failure(client.deployments.scale(id("ok4"), -1));
    equal([error.code, error.executed], ["OUT_OF_RANGE", "no"]);
    equal(await received(id("ok4")), []);
  },
  async "asks a key function for every attempt"({ make, received, id }) {
    let asked = 0;
    const client = make({ apiKey: async () => `key-${++asked}` });
    await client.deployments.scale(id("flaky-b"), 1);
    equal(
      (await received(id("flaky-b"))).map(({ authorization }) => authorization),
      ["Bearer key-1", "Bearer key-2"],
    );
  },
  async "lets go of its connections"({ client }) {
    await client.close();
  },
};
