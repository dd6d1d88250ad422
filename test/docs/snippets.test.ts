import { existsSync, writeFileSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, describe, expect, inject, test, vi } from "vitest";
import { plainPage } from "../../docs/build/plainPage.js";
import { printedWith } from "../../docs/build/printed.js";
import { done, inTurn, silence, unavailable } from "../support/answers.js";
import { useNoBackoff } from "../support/backoff.js";
import { certificate } from "../support/certificate.js";
import { TestClock } from "../support/clock.js";
import { useForwardProxy } from "../support/forwardProxy.js";
import { root, temporaryFolder } from "../support/project.js";
import {
  type ReceivedRequest,
  type Reply,
  type Script,
  useRecordingServer,
} from "../support/recordingServer.js";
import { useSecureServer } from "../support/secureServer.js";

const folder = path.join(root, "docs/snippets");
const trainFile = await readFile(path.join(root, "examples/train.jsonl"));
const line = '{"prompt": "What is the capital of France?", "answer": "Paris"}\n';

const server = useRecordingServer();
const secure = useSecureServer();
const proxy = useForwardProxy();

function environment(baseUrl: string): Record<string, string> {
  return { TUNERANK_BASE_URL: baseUrl, TUNERANK_API_KEY: "snippet-key", TUNERANK_ACCOUNT_ID: "acme" };
}

// As vitest is run, a snippet's relative paths begin at the project's folder.
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
  try {
    await import(`${path.join(folder, name)}.ts${query}`);
    // A line of the log is written once the module for it is loaded.
    if (name === "log") await vi.waitFor(() => expect(lines).not.toEqual([]));
  } finally {
    log.mockRestore();
  }
  // The port is another in each run.
  return lines
    .map(
      (text) => `${text.replaceAll(/127\.0\.0\.1:\d+/g, "api.example.com").replace(/ ms=\d+/, " ms=12")}\n`,
    )
    .join("");
}

// What a snippet prints stands beside it; one that prints nothing has no such file.
async function expectPrinted(name: string, printed: string): Promise<void> {
  const file = path.join(folder, `${name}.out.txt`);
  if (printed === "") expect(existsSync(file), `${file} is not what it prints`).toBe(false);
  else await expect(printed).toMatchFileSnapshot(file);
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
  readonly answer: Reply | Script;
  readonly sends: readonly string[];
  /** Milliseconds that pass once its request has come, on a clock of the test's. */
  readonly passMs?: number;
  readonly check?: (requests: readonly ReceivedRequest[]) => void;
}

const onServer: Readonly<Record<string, Case>> = {
  bulk: { answer: ranking, sends: [rerank, rerank] },
  bulkPartial: {
    answer: inTurn(rankedTwo, { status: 400, json: { code: "INVALID_ARGUMENT", message: "No." } }, rankedTwo),
    sends: [rerank, rerank, rerank],
  },
  cancel: { answer: silence, sends: [resume], passMs: 100 },
  close: { answer: done, sends: [scale("support-search")] },
  deadline: { answer: silence, sends: [rerank], passMs: 200 },
  errorFields: {
    answer: {
      ...unavailable,
      status: 504,
      json: { code: "DEADLINE_EXCEEDED", message: "It took too long, but it may have completed." },
    },
    sends: [resume],
  },
  errors: { answer: notFound, sends: [scale("missing")] },
  jobFailed: {
    answer: {
      json: { state: "JOB_STATE_FAILED", status: { code: "INTERNAL", message: "The evaluator stopped." } },
    },
    sends: [resume],
  },
  onAttempt: { answer: inTurn(unavailable, unavailable, ranking), sends: [rerank, rerank, rerank] },
  ownFetch: { answer: done, sends: [scale("support-search")] },
  rerankBatches: {
    answer: ({ body }) => {
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
    answer: {
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
    answer: inTurn(unavailable, done),
    sends: [scale("support-search"), scale("support-search")],
  },
  lookBeforeRepeating: {
    answer: inTurn(gateway, { json: { files: [{ filename: "train.jsonl" }] } }),
    sends: [upload("support-answers"), "GET /v1/accounts/acme/datasets/support-answers"],
  },
  openapiFetch: { answer: ranking, sends: [rerank] },
  request: {
    answer: { json: { name: "accounts/acme/datasets/support-answers", exampleCount: "1200" } },
    sends: ["GET /v1/accounts/acme/datasets/support-answers"],
  },
  requestBodies: {
    answer: inTurn(done, {
      headers: { "content-type": "application/octet-stream" },
      text: new Uint8Array([4, 5]),
    }),
    sends: [
      "POST /v1/accounts/acme/notes/first%20draft:touch",
      "PUT /v1/accounts/acme/notes/first%20draft?view=full&tag=a&tag=b",
    ],
    check: (requests) => expect([...(requests[1]?.body ?? [])]).toEqual([1, 2, 3]),
  },
  // These bring their own service.
  testFailures: { answer: done, sends: [] },
  testOffline: { answer: done, sends: [] },
  testServer: { answer: done, sends: [] },
  testService: { answer: done, sends: [] },
  tracing: { answer: ranking, sends: [rerank] },
  uploadNotRetried: { answer: gateway, sends: [upload("support-answers")] },
  uploadRepeatable: {
    answer: inTurn(gateway, { json: { id: "file-1", bytes: trainFile.length } }),
    sends: [upload("support-answers"), upload("support-answers")],
    check: (requests) => {
      for (const { files } of requests) expect(files[0]?.bytes).toEqual(trainFile);
    },
  },
  uploadSources: {
    answer: done,
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
  verifyBytes: { answer: { json: { id: "file-1", bytes: 7 } }, sends: [upload("support-answers")] },
  withResponse: { answer: ranking, sends: [rerank] },
  wrongArgument: { answer: done, sends: [] },
};

const [onMock = [], onStandIn = [], sendsNothing = []] = Object.values(printedWith);

describe("a snippet of the docs", () => {
  test.each(onMock)("%s prints against the contract's mock what the docs say", async (name) => {
    const printed = await runSnippet(name, inject("mockUrl"));
    await expectPrinted(name, printed);
  });

  test.each(Object.keys(onServer))("%s sends and prints what the docs say", async (name) => {
    const { answer, sends, passMs, check } = onServer[name] as Case;
    server.reply(answer);
    if (passMs !== undefined) clock.install();
    const running = runSnippet(name, server.url);
    if (passMs !== undefined) {
      await server.received();
      clock.pass(passMs);
    }
    const printed = await running;
    expect(server.requests.map(sent)).toEqual(sends);
    check?.(server.requests);
    await expectPrinted(name, printed);
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

  test("privateAuthority trusts the authority of its file", async () => {
    const { folder: temporary, remove } = await temporaryFolder();
    const file = path.join(temporary, "company.pem");
    await writeFile(file, certificate);
    await runSnippet("privateAuthority", secure.url, { CA_FILE: file });
    expect(secure.requests).toMatchObject([{ method: "PATCH", authorization: "Bearer snippet-key" }]);
    await remove();
  });
});

describe("what the docs say of who answered", () => {
  test("is true of what brings its own service, or sends nothing", async () => {
    for (const name of sendsNothing) {
      const { sends } = onServer[name] ?? { sends: [] };
      expect(sends, name).toEqual([]);
    }
    // The tests of the recipes have theirs.
    for (const name of onStandIn.filter((each) => !each.includes("/"))) {
      const file = path.join(
        folder,
        existsSync(path.join(folder, `${name}.ts`)) ? `${name}.ts` : `${name}.mjs`,
      );
      // The quickstart's first program has its stand-in in another process, as test/docs/quickstart.test.ts runs it.
      expect(await readFile(file, "utf8"), name).toMatch(/createTestService|127\.0\.0\.1:4010/);
    }
  });

  test("stands before each recorded output", async () => {
    const files = await readdir(folder, { recursive: true });
    const outputs = files
      .map((name) => name.replaceAll("\\", "/"))
      .filter((name) => name.endsWith(".out.txt"));
    const named = Object.values(printedWith).flat();
    expect(outputs).toEqual(expect.arrayContaining(named.map((name) => `${name}.out.txt`)));
    for (const output of outputs) {
      const page = await plainPage(`<<< @/snippets/${output}\n`, path.join(root, "docs"), async () => "");
      const source = Object.entries(printedWith).find(([, names]) =>
        names.includes(output.slice(0, -8)),
      )?.[0];
      expect(page.text).toContain(
        `It prints, ${source ?? "with a test server whose answers are made up"}:\n`,
      );
    }
  });
});

describe("the docs", () => {
  const withOwnTest = ["freshKey", "privateAuthority", "proxy"];

  test("have no snippet that is not run", async () => {
    const files = (await readdir(folder)).filter((name) => name.endsWith(".ts"));
    const names = files.map((name) => name.slice(0, -3)).sort();
    expect(names).toEqual([...onMock, ...Object.keys(onServer), ...withOwnTest].sort());
  });

  test("hold code from files only, and each of these files is there", async () => {
    const pages = (await readdir(path.join(root, "docs"), { recursive: true })).filter(
      (name) => name.endsWith(".md") && !/(^|\/)(node_modules|generated|github)\//.test(name),
    );
    expect(pages).toContain("index.md");
    for (const page of pages) {
      const text = await readFile(path.join(root, "docs", page), "utf8");
      expect(text, `${page} holds a code block of its own`).not.toMatch(/^\s*(```|~~~)/m);
      for (const [, file = "", region] of text.matchAll(/^\s*<<< @\/([\w./-]+)(?:#(\w+))?/gm)) {
        const source = await readFile(path.join(root, "docs", file), "utf8");
        if (region) expect(source, `${page} names ${file}#${region}`).toContain(`#region ${region}`);
      }
    }
  });
});
