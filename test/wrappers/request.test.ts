import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { canaryKey } from "../support/canary.js";
import { connect, operationCalls, transports } from "../support/clients.js";
import { exampleBody, responseExamples } from "../support/contract.js";
import { root } from "../support/project.js";
import { useRecordingServer } from "../support/recordingServer.js";

const { version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
const server = useRecordingServer();

describe.each(transports)("over $name", ({ options }) => {
  test.each(operationCalls)(
    "$operation sends $method $path, its verb literal, and the client's headers",
    async ({ call, operation, method, path }) => {
      await call(connect(server.url, options));
      const { headers, body, ...sentTo } = server.only;
      expect(sentTo).toMatchObject({ method, url: path });
      expect(headers.authorization).toBe(`Bearer ${canaryKey}`);
      expect(headers.accept).toBe("application/json");
      expect(headers["user-agent"]).toBe(`tunerank/${version} node/${process.versions.node}`);
      const sent = exampleBody(operation);
      if (sent === undefined) expect(headers).not.toHaveProperty("content-type");
      else
        expect(headers["content-type"]).toMatch(
          sent instanceof FormData ? /^multipart\/form-data; boundary=[\w-]{1,70}$/ : /^application\/json$/,
        );
      expect(headers["content-length"]).toBe(sent && String(body.byteLength));
      expect(headers["transfer-encoding"]).toBeUndefined();
    },
  );

  test("userAgent is added to the end of the user-agent header", async () => {
    await connect(server.url, { ...options, userAgent: "myapp/2.1 (ci)" }).deployments.scale("prod", 1);
    expect(server.only.headers["user-agent"]).toBe(
      `tunerank/${version} node/${process.versions.node} myapp/2.1 (ci)`,
    );
  });

  test("resume sends an object with no fields, and scale a number, and resolves to nothing", async () => {
    const client = connect(server.url, options);
    server.reply({ json: { replicaCount: 2 } });
    await client.reinforcementFineTuningJobs.resume("job-1");
    for (const count of [0, 2]) expect(await client.deployments.scale("prod", count)).toBeUndefined();
    expect(server.requests.map(({ body }) => `${body}`)).toEqual([
      "{}",
      '{"replicaCount":0}',
      '{"replicaCount":2}',
    ]);
  });

  test("rerank sends every field as given, under the service's names", async () => {
    const body = {
      query: "wörter — 検索 🔎",
      documents: ["Paris.", "", "Ro\nme \u2028"],
      model: "accounts/acme/models/small",
      top_n: 2,
      return_documents: false,
      task: "Find the capital.",
    };
    await connect(server.url, options).rerank(body);
    expect(JSON.parse(server.only.body.toString("utf8"))).toEqual(body);
  });

  test("rerank leaves out what is undefined and keeps fields newer than the contract", async () => {
    // Among them names that this client itself uses for a file's form.
    const newer = { rank_fields: ["title"], file: "f", head: "h", tail: "t", size: 1, contentType: "a/b" };
    const body = { query: "q", documents: ["d"], top_n: undefined, ...newer };
    await connect(server.url, options).rerank(body);
    expect(JSON.parse(server.only.body.toString())).toEqual({ query: "q", documents: ["d"], ...newer });
  });

  test("rerankModel is sent when the body names no model, and gives way to one that does", async () => {
    const client = connect(server.url, { ...options, rerankModel: "accounts/acme/models/default" });
    const body = Object.freeze({ query: "q", documents: Object.freeze(["d"]) });
    await client.rerank(body);
    await client.rerank({ ...body, model: "accounts/acme/models/other" });
    const models = server.requests.map(({ body }) => JSON.parse(body.toString()).model);
    expect(models).toEqual(["accounts/acme/models/default", "accounts/acme/models/other"]);
  });
});

test.each(operationCalls)("over node:http $operation sends no other header", async ({ operation, call }) => {
  await call(connect(server.url));
  const sent = exampleBody(operation);
  const names = server.only.rawHeaders.filter((_, index) => index % 2 === 0);
  expect(names.map((header) => header.toLowerCase()).sort()).toEqual([
    "accept",
    ...(typeof sent === "string" ? [] : ["accept-encoding"]),
    "authorization",
    "connection",
    ...(sent === undefined ? [] : ["content-length", "content-type"]),
    "host",
    "user-agent",
  ]);
});

const jobs = JSON.parse(readFileSync(path.join(root, "checks/generators/jobs.json"), "utf8"));

describe.each(transports)("a response over $name", ({ options }) => {
  test.each([
    ...responseExamples("resumeReinforcementFineTuningJob"),
    ["a job of a newer service", jobs.newer],
    ["a job with nulls", jobs.nulls],
    [
      "a job with values and fields newer than the contract",
      {
        state: "JOB_STATE_TELEPORTING",
        status: { code: "TOO_EARLY", message: "m", details: [{ "@type": "x" }] },
        trainingConfig: { lrScheduler: { exponential: { gamma: 0.9 } }, rank: null },
        labels: { team: "search" },
      },
    ],
    ["a job with more seconds than a number can hold", { acceleratorSeconds: { a: "9007199254740993" } }],
  ] as [string, object][])("%s is read as it came", async (_name, job) => {
    server.reply({ json: job });
    const client = connect(server.url, options);
    expect(await client.reinforcementFineTuningJobs.resume("answer-quality")).toEqual(job);
  });

  test("a rerank response is neither sorted, nor clamped, nor filled in", async () => {
    const response = {
      object: "list",
      model: "m",
      data: [
        { index: 9, relevance_score: -3.5 },
        { index: 0, relevance_score: 12, document: null, extra: true },
      ],
      usage: { prompt_tokens: 1 },
    };
    server.reply({ json: response });
    expect(await connect(server.url, options).rerank({ query: "q", documents: ["d"] })).toEqual(response);
  });

  test("is read as JSON whatever its content type, a byte order mark before it included; a field named __proto__ changes no prototype", async () => {
    const text = '\uFEFF{"dataset":"données 検索 🔎","evaluator":"e","__proto__":{"polluted":true}}';
    server.reply({ text, headers: { "content-type": "text/plain" } });
    const job = await connect(server.url, options).reinforcementFineTuningJobs.resume("job-1");
    expect(job.dataset).toBe("données 検索 🔎");
    expect(Object.getPrototypeOf(job)).toBe(Object.prototype);
    expect((job as unknown as { polluted?: boolean }).polluted).toBeUndefined();
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});
