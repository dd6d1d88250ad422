import { writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, describe, expect, inject, test, vi } from "vitest";
import { useNoBackoff } from "../support/backoff.js";
import { certificate, certificateKey } from "../support/certificate.js";
import { TestClock } from "../support/clock.js";
import { useForwardProxy } from "../support/forwardProxy.js";
import { blocks, savedBlock } from "../support/guideBlocks.js";
import { root, temporaryFolder } from "../support/project.js";
import {
  type ReceivedRequest,
  type Reply,
  type Script,
  useRecordingServer,
} from "../support/recordingServer.js";
import { done, inTurn, ranked, silence, unavailable } from "../support/responses.js";
import { useSecureServer } from "../support/secureServer.js";

const trainFile = await readFile(path.join(root, "examples/train.jsonl"));
const line = '{"prompt": "What is the capital of France?", "answer": "Paris"}\n';

const server = useRecordingServer();
const secure = useSecureServer();
const proxy = useForwardProxy();

function environment(baseUrl: string): Record<string, string> {
  return { TUNERANK_BASE_URL: baseUrl, TUNERANK_API_KEY: "snippet-key", TUNERANK_ACCOUNT_ID: "acme" };
}

// In its own folder, where the file is that it uploads.
async function runSnippet(
  name: string,
  baseUrl: string,
  env: Record<string, string> = {},
  query = "",
): Promise<string> {
  for (const [variable, value] of Object.entries({ ...environment(baseUrl), ...env }))
    vi.stubEnv(variable, value);
  const lines: string[] = [];
  const log = vi.spyOn(console, "log").mockImplementation((...values) => void lines.push(values.join(" ")));
  const file = savedBlock(`${name}.ts`);
  process.chdir(path.dirname(file));
  try {
    await import(file + query);
    // A line of the log is written once the module for it is loaded.
    if (name === "log") await vi.waitFor(() => expect(lines).not.toEqual([]));
  } finally {
    process.chdir(root);
    log.mockRestore();
  }
  // The port is another in each run.
  return lines
    .map(
      (text) => `${text.replaceAll(/127\.0\.0\.1:\d+/g, "api.example.com").replace(/ ms=\d+/, " ms=12")}\n`,
    )
    .join("");
}

const clock = new TestClock();
useNoBackoff();

afterEach(() => {
  clock.remove();
  vi.unstubAllEnvs();
});

const resume = "POST /v1/accounts/acme/reinforcementFineTuningJobs/answer-quality:resume";
const rerank = "POST /inference/v1/rerank";
const scale = (id: string) => `PATCH /v1/accounts/acme/deployments/${id}:scale`;
const upload = (id: string) => `POST /v1/accounts/acme/datasets/${id}:upload`;
const sent = ({ method, url }: ReceivedRequest) => `${method} ${url}`;
const bodiesOf = (requests: readonly ReceivedRequest[]) => requests.map(({ body }) => JSON.parse(`${body}`));

const gateway: Reply = {
  status: 503,
  headers: { "content-type": "text/plain" },
  text: "upstream connect error or disconnect/reset before headers",
};
const notFound: Reply = {
  status: 404,
  headers: { "x-request-id": "req-5f3a9c1e" },
  json: { code: "NOT_FOUND", message: "There is no such deployment in this account." },
};
const ranking: Reply = {
  headers: { "x-request-id": "req-5f3a9c1e" },
  json: { object: "list", model: "m", data: [{ index: 0, relevance_score: 0.9 }], usage: {} },
};

const rankedTwo: Reply = {
  json: { model: "m", data: [0, 1].map((index) => ({ index, relevance_score: 0.5 })) },
};

/** What a snippet meets, and what it must send there. */
interface Case {
  readonly response: Reply | Script;
  readonly sends: readonly string[];
  /** Milliseconds that pass once its request has come, on a clock of the test's. */
  readonly passMs?: number;
  readonly check?: (requests: readonly ReceivedRequest[]) => void;
  /** What it prints, where no mock server gives these responses; `npm run test:docs` looks at the others. */
  readonly prints?: string;
}

const onServer: Readonly<Record<string, Case>> = {
  accounts: {
    response: done,
    sends: ["acme", "globex", "initech"].map(
      (account) => `PATCH /v1/accounts/${account}/deployments/support-search:scale`,
    ),
  },
  bulk: { response: ranking, sends: [rerank, rerank] },
  bulkBatches: { response: (request) => ranked(request), sends: [rerank, rerank, rerank] },
  bulkPartial: {
    prints: "2 ranked, 2 left\n4 ranked\n",
    response: inTurn(
      rankedTwo,
      { status: 400, json: { code: "INVALID_ARGUMENT", message: "No." } },
      rankedTwo,
    ),
    sends: [rerank, rerank, rerank],
  },
  cancel: { response: silence, sends: [resume], passMs: 1_000 },
  checkRanking: {
    // Out of order: the program prints the best first.
    response: {
      json: {
        data: [
          { index: 0, relevance_score: 0.1 },
          { index: 1, relevance_score: 0.9 },
        ],
      },
    },
    sends: [rerank],
    prints: "Paris is on the Seine.\nRome is on the Tiber.\n",
  },
  close: { response: done, sends: [scale("support-search")] },
  deadline: { response: silence, sends: [rerank], passMs: 1_000 },
  errorFields: {
    response: {
      ...unavailable,
      status: 504,
      json: { code: "DEADLINE_EXCEEDED", message: "It took too long, but it may have completed." },
    },
    sends: [resume],
  },
  errors: { response: notFound, sends: [scale("missing")] },
  executed: {
    prints: "It may have run: check the job before you call again.\n",
    response: gateway,
    sends: [resume],
  },
  headers: {
    response: done,
    sends: [scale("support-search")],
    check: ([request]) => {
      expect(request?.headers).toMatchObject({ "x-team": "search", "x-reason": "traffic" });
      expect(request?.headers["user-agent"]).toMatch(/^tunerank\/.* shop\/2\.1$/);
    },
  },
  healthCheck: { response: { json: { data: [{ index: 0, relevance_score: 1 }] } }, sends: [rerank] },
  idempotencyKey: {
    response: inTurn(gateway, gateway, done),
    sends: [resume, resume, resume],
    check: (requests) => {
      const keys = requests.map(({ headers }) => headers["idempotency-key"]);
      expect(keys[0]).toMatch(/^[\da-f-]{36}$/);
      expect(new Set(keys).size).toBe(1);
    },
  },
  rate: { response: rankedTwo, sends: [rerank], prints: "1 done\n" },
  limits: {
    response: rankedTwo,
    sends: [rerank, rerank],
    prints: "a done\nb done\nmaxRequests next: c sent: 2\n",
  },
  report: {
    prints: '{"code":"NOT_FOUND","codeSource":"body","executed":"no","httpStatus":404}\n',
    response: notFound,
    sends: [scale("missing")],
  },
  usage: {
    prints: "14 tokens\n",
    response: { json: { ...(rankedTwo.json as object), usage: { total_tokens: 7 } } },
    sends: [rerank, rerank],
  },
  jobFailed: {
    prints: "[INTERNAL] The evaluator stopped. The job itself failed: read the message, and its logs.\nyes\n",
    response: {
      json: { state: "JOB_STATE_FAILED", status: { code: "INTERNAL", message: "The evaluator stopped." } },
    },
    sends: [resume],
  },
  onAttempt: { response: inTurn(unavailable, unavailable, ranking), sends: [rerank, rerank, rerank] },
  ownFetch: { response: done, sends: [scale("support-search")] },
  rerankBatches: {
    response: ({ body }) => {
      const { documents } = JSON.parse(`${body}`) as { documents: string[] };
      return { json: { data: documents.map((_, index) => ({ index, relevance_score: 1 / (index + 1) })) } };
    },
    sends: [rerank, rerank, rerank],
    check: (requests) => {
      const sizes = bodiesOf(requests).map(({ documents }) => documents.length);
      expect([...sizes].sort()).toEqual([1000, 1000, 500]);
    },
  },
  rerankItems: {
    response: {
      json: {
        data: [
          { index: 1, relevance_score: 0.97 },
          { index: 0, relevance_score: 0.12 },
          { index: 2, relevance_score: 0.05 },
        ],
      },
    },
    sends: [rerank],
    check: (requests) => expect(bodiesOf(requests)).toMatchObject([{ return_documents: false }]),
  },
  log: {
    response: inTurn(unavailable, done),
    sends: [scale("support-search"), scale("support-search")],
  },
  lookBeforeRepeating: {
    prints: "it is stored\n",
    response: inTurn(gateway, { json: { files: [{ filename: "train.jsonl" }] } }),
    sends: [upload("support-answers"), "GET /v1/accounts/acme/datasets/support-answers"],
  },
  noRetries: { response: done, sends: [scale("support-search")] },
  openapiFetch: { response: ranking, sends: [rerank] },
  request: {
    prints: "1200\n",
    response: { json: { name: "accounts/acme/datasets/support-answers", exampleCount: "1200" } },
    sends: ["GET /v1/accounts/acme/datasets/support-answers"],
  },
  requestBodies: {
    prints: "2\n",
    response: inTurn(done, {
      headers: { "content-type": "application/octet-stream" },
      text: new Uint8Array([4, 5]),
    }),
    sends: [
      "POST /v1/accounts/acme/notes/first%20draft:touch",
      "PUT /v1/accounts/acme/notes/first%20draft?view=full&tag=a&tag=b",
    ],
    check: (requests) => expect([...(requests[1]?.body ?? [])]).toEqual([1, 2, 3]),
  },
  dispatcher: { response: ranking, sends: [rerank] },
  // These bring their own service.
  testMockAgent: { response: done, sends: [] },
  slowUpload: { response: done, sends: [upload("support-answers")] },
  testClock: { response: done, sends: [] },
  testFailures: { response: done, sends: [] },
  testOffline: { response: done, sends: [] },
  testServer: { response: done, sends: [] },
  testService: { response: done, sends: [] },
  uploadNotRetried: { response: gateway, sends: [upload("support-answers")] },
  throttle: { response: rankedTwo, sends: [rerank, rerank] },
  uploadIdempotent: {
    response: inTurn(gateway, { json: { id: "file-1", bytes: trainFile.length } }),
    sends: [upload("support-answers"), upload("support-answers")],
    check: (requests) => {
      for (const { files } of requests) expect(files[0]?.bytes).toEqual(trainFile);
    },
  },
  uploadSources: {
    response: done,
    sends: [upload("quiz"), upload("quiz"), upload("quiz"), upload("quiz")],
    check: (requests) => {
      const parts = requests.flatMap(({ files }) => files);
      expect(parts.map(({ filename }) => filename)).toEqual([
        "train.jsonl",
        "bytes.jsonl",
        "blob.jsonl",
        "stream.jsonl",
      ]);
      expect(parts.map(({ bytes }) => `${bytes}`)).toEqual([`${trainFile}`, line, line, line]);
      expect(parts[2]?.mimeType).toBe("application/jsonl");
      for (const { headers } of requests) expect(headers["content-length"]).toMatch(/^\d+$/);
    },
  },
  verifyBytes: {
    prints: `[DATA_LOSS] The service counted 7 bytes of the ${trainFile.length} sent (verifyBytes). The file may have been stored: check the dataset with the service's other operations before you upload it again. The call was not retried: it would most likely fail again.\nyes\n`,
    response: { json: { id: "file-1", bytes: 7 } },
    sends: [upload("support-answers")],
  },
  withResponse: { response: done, sends: ["PATCH /v1/accounts/acme/deployments/prod:scale"] },
  wrongArgument: { response: done, sends: [] },
};

const onMock = ["fourCalls", "rerank", "resume", "scale", "upload"];

describe("a snippet of the docs", () => {
  test.each(onMock)("%s reads what the contract's mock sends", async (name) => {
    expect(await runSnippet(name, inject("mockUrl"))).toMatch(/./);
  });

  test.each(Object.keys(onServer))("%s sends and prints what the docs say", async (name) => {
    const { response, sends, passMs, check, prints } = onServer[name] as Case;
    server.reply(response);
    if (passMs !== undefined) clock.install();
    const running = runSnippet(name, server.url);
    if (passMs !== undefined) {
      await server.received();
      clock.pass(passMs);
    }
    const printed = await running;
    expect(server.requests.map(sent)).toEqual(sends);
    check?.(server.requests);
    if (prints !== undefined) expect(printed).toBe(prints);
  });

  test("rerank sends its model, task and top_n", async () => {
    server.reply({ json: { model: "m", data: [], usage: { total_tokens: 1 } } });
    // Once more, though it was imported before.
    await runSnippet("rerank", server.url, {}, "?again");
    expect(bodiesOf(server.requests)).toMatchObject([
      { model: "accounts/acme/models/reranker-small", top_n: 3, task: expect.any(String) },
    ]);
  });

  test("freshKey reads the key again after a 401", async () => {
    const { folder: temporary, remove } = await temporaryFolder();
    const keyFile = path.join(temporary, "key");
    await writeFile(keyFile, "first-key\n");
    server.reply((request) => {
      if (request.headers.authorization === "Bearer second-key") return done;
      // The server changes the key before it refuses the old one.
      writeFileSync(keyFile, "second-key\n");
      return { status: 401, json: { code: "UNAUTHENTICATED", message: "Expired." } };
    });
    await runSnippet("freshKey", server.url, { KEY_FILE: keyFile });
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer first-key",
      "Bearer second-key",
    ]);
    await remove();
  });

  test("proxy goes through the proxy", async () => {
    // Trust is Node's own business here: a tunnel that opens is what the snippet promises.
    const url = `https://service.test:${secure.port}`;
    await expect(runSnippet("proxy", url, { https_proxy: proxy.url })).rejects.toThrow("[UNAVAILABLE]");
    expect(proxy.seen[0]).toMatchObject({ method: "CONNECT", target: `service.test:${secure.port}` });
  });

  test("pathPrefix sends below the path of its base URL", async () => {
    server.reply(ranking);
    await runSnippet("pathPrefix", "http://127.0.0.1:9", { GATEWAY_URL: server.url });
    expect(server.requests.map(sent)).toEqual(["POST /ml/inference/v1/rerank"]);
  });

  test("uploadFromUrl sends what its URL has, with its length", async () => {
    const source = `${server.url}/bucket/train.jsonl?signature=1`;
    server.reply(({ method }) =>
      method === "GET" ? { headers: { "content-length": `${line.length}` }, text: line } : done,
    );
    await runSnippet("uploadFromUrl", server.url, { SOURCE_URL: source });
    const [download, stored] = server.requests;
    expect([download?.url, stored && sent(stored)]).toEqual([
      "/bucket/train.jsonl?signature=1",
      upload("support-answers"),
    ]);
    expect(stored?.files.map(({ filename, bytes }) => [filename, `${bytes}`])).toEqual([
      ["train.jsonl", line],
    ]);
    expect(stored?.headers["content-length"]).toMatch(/^\d+$/);
  });

  test.each(["customCa", "clientCertificateProxy"])(
    "%s trusts the CA of its file and presents the certificate of another",
    async (name) => {
      const { folder: temporary, remove } = await temporaryFolder();
      const [file, keyFile] = [path.join(temporary, "company.pem"), path.join(temporary, "key.pem")];
      await writeFile(file, certificate);
      await writeFile(keyFile, certificateKey);
      const files = { CA_FILE: file, CERT_FILE: file, KEY_FILE: keyFile, PROXY: proxy.url };
      await runSnippet(name, secure.url, files);
      expect(secure.requests).toMatchObject([{ method: "PATCH", authorization: "Bearer snippet-key" }]);
      expect(secure.clientCertificates).toEqual(["localhost"]);
      expect(proxy.seen.length).toBe(name === "customCa" ? 0 : 1);
      await remove();
    },
  );
});

// The recipe that is a test file is one: its tests are among these.
await import(savedBlock("search.test.ts"));

test("no program of the guides that can run here is left out", () => {
  const withOwnTest = [
    "clientCertificateProxy",
    "customCa",
    "freshKey",
    "pathPrefix",
    "proxy",
    "uploadFromUrl",
  ];
  // test/all/recipes.test.ts runs those of the recipes.
  // checks/integrations has the other clients that programs of guide/coming-from.md use.
  const elsewhere = /^(recipes\/|guide\/coming-from\.md$)/;
  const guides = blocks.filter(({ page, language }) => language === "ts" && !elsewhere.test(page));
  const names = guides.map(({ file }) => file.replace(/\.ts$/, ""));
  const run = [...onMock, ...Object.keys(onServer), ...withOwnTest, "lookBeforeRepeating"];
  expect([...new Set([...names, "lookBeforeRepeating"])].sort()).toEqual([...new Set(run)].sort());
});
