// Seven operations that only openapi.yaml tells of: everything else of a copy of the project follows from their rows.
import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { CallOptions, CallPromise, ClientOptions, StatusError } from "../../src/index.js";
import { added, addOperations } from "../support/addedOperations.js";
import { useNoBackoff } from "../support/backoff.js";
import { canaryKey } from "../support/canary.js";
import { failureOf, transports } from "../support/clients.js";
import { TestClock } from "../support/clock.js";
import { copyProject, root, run, temporaryFolder } from "../support/project.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { reset, silence } from "../support/responses.js";
import { isPending } from "../support/turns.js";

const minutes = 60_000;
const server = useRecordingServer();
const clock = new TestClock();
useNoBackoff();

/** What the client of the copy has besides this project's. */
interface AddedClient {
  readonly datasets: {
    get(id: string, options?: CallOptions): CallPromise<{ name?: string }>;
    download(id: string, options?: CallOptions): CallPromise<Uint8Array>;
  };
  readonly evaluators: {
    list(parameters?: object, options?: CallOptions): CallPromise<object>;
    create(body: object, options?: CallOptions): CallPromise<object>;
    replace(id: string, body: object, options?: CallOptions): CallPromise<object>;
    delete(id: string, options?: CallOptions): CallPromise<void>;
    start(id: string, options?: CallOptions): CallPromise<object>;
  };
}

let copy: Awaited<ReturnType<typeof temporaryFolder>>;
let createClient: (options: ClientOptions) => AddedClient;

async function inCopy(command: string, ...args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await run(command, args, { cwd: copy.folder });
  expect({ exitCode, stderr: exitCode === 0 ? "" : stderr, stdout: exitCode === 0 ? "" : stdout }).toEqual({
    exitCode: 0,
    stderr: "",
    stdout: "",
  });
  return stdout;
}

const readCopy = (file: string): Promise<string> => readFile(path.join(copy.folder, file), "utf8");

beforeAll(async () => {
  copy = await temporaryFolder();
  await copyProject(copy.folder);
  // What the docs run their code with.
  await cp(path.join(root, "checks/installPacked.ts"), path.join(copy.folder, "checks/installPacked.ts"));
  await addOperations(copy.folder);
  await inCopy("npm", "run", "generate");
  // Builds too.
  await inCopy("npm", "run", "docs");
  const entry = pathToFileURL(path.join(copy.folder, "dist/index.js")).href;
  ({ createClient } = await import(/* @vite-ignore */ entry));
}, 20 * minutes);
afterEach(() => clock.remove());
afterAll(() => copy?.remove());

const typed = `
import { createClient, type Dataset, type Evaluator } from "tunerank";
const client = createClient();
export const dataset: Promise<Dataset> = client.datasets.get("reviews", { timeoutMs: 5 });
export const bytes: Promise<Uint8Array> = client.datasets.download("reviews");
export const nothing: Promise<void> = client.evaluators.delete("grader");
export const made: Promise<Evaluator> = client.evaluators.create({ displayName: "Grader", threshold: 3 });
client.evaluators.replace("grader", { displayName: "Grader" }, { maxRetries: 0 });
client.evaluators.start("grader");
client.evaluators.list();
client.evaluators.list({ page_size: 1, label: ["a"], state: ["EVALUATOR_STATE_READY"], archived: true, "x-view": "full" });
client.datasets.upload("reviews", "train.jsonl", { name: "train.jsonl" });
// @ts-expect-error An id is a text.
client.datasets.get(1);
// @ts-expect-error It has no body.
client.datasets.get("reviews", { displayName: "Grader" });
// @ts-expect-error A field is required.
client.evaluators.create({ threshold: 3 });
// @ts-expect-error A field has its type.
client.evaluators.create({ displayName: 3 });
// @ts-expect-error The body is the second argument.
client.evaluators.replace({ displayName: "Grader" });
// @ts-expect-error A list holds texts.
client.evaluators.list({ label: [1] });
// @ts-expect-error A list is a list.
client.evaluators.list({ label: "a" });
// @ts-expect-error A state is one of those that are known.
client.evaluators.list({ state: ["EVALUATOR_STATE_UNKNOWN"] });
// @ts-expect-error There is no such parameter.
client.evaluators.list({ pageSize: 1 });
// @ts-expect-error Nothing comes back.
export const wrong: Promise<Evaluator> = client.evaluators.delete("grader");
`;

test(
  "the methods are typed, and wrong arguments are errors of the compiler",
  async () => {
    await writeFile(path.join(copy.folder, "examples/added.ts"), typed);
    await inCopy("npx", "tsc");
  },
  5 * minutes,
);

test(
  "every published document is valid, and the four of them have the operations",
  async () => {
    const names = ["openapi.json", "openapi-client.json", "openapi-3.0.json", "openapi-client-3.0.json"];
    const documents = names.map((name) => path.join("dist", name));
    const overlays = (await readdir(path.join(copy.folder, "dist/overlays"))).map(
      (name) => `dist/overlays/${name}`,
    );
    await inCopy("npx", "redocly", "lint", "openapi.yaml");
    const lint = ["redocly", "lint", "--config", "scripts/build/redocly.yaml"];
    await inCopy("npx", ...lint, ...documents, ...overlays);
    for (const name of documents) {
      const { paths, components } = JSON.parse(await readCopy(name));
      const item = paths["/v1/accounts/{account_id}/evaluators/{evaluator_id}"];
      expect(item.parameters).toHaveLength(2);
      expect(item.put).toMatchObject({
        operationId: "replaceEvaluator",
        "x-retry": "set",
        "x-retry-safe": true,
      });
      expect(item.delete.responses["204"]).not.toHaveProperty("content");
      const download = paths["/v1/accounts/{account_id}/datasets/{dataset_id}:download"].get;
      expect(download.responses["200"].content["application/octet-stream"].schema).toEqual(
        name === "dist/openapi.json"
          ? { contentMediaType: "application/octet-stream" }
          : { type: "string", format: "binary" },
      );
      expect(components.schemas).toHaveProperty("DatasetFormat");
    }
  },
  5 * minutes,
);

describe("the docs have", () => {
  const pageOf = (id: string) => readCopy(`site/reference/${id}.md`);

  test.each(added)("%s with a page, in the list of pages, in the menu and in the search", async (id) => {
    const list = await readCopy("site/llms.txt");
    expect(list).toContain(`(/reference/${id}.md)`);
    expect(list).toContain("with 11 operations: ");
    expect(await readCopy("site/reference/rerank.html")).toContain(`href="/reference/${id}.html"`);
    expect(await readCopy("site/reference/index.md")).toContain(`(/reference/${id}.md)`);
    const chunks = path.join(copy.folder, "site/assets/chunks");
    const [search = ""] = (await readdir(chunks)).filter((name) => name.startsWith("@localSearch"));
    expect(await readFile(path.join(chunks, search), "utf8")).toContain(`/reference/${id}.html`);
    expect(await pageOf(id)).toContain(`Operation \`${id}\``);
  });

  test("what a row says on its page: parameters, kind, deadline, response", async () => {
    const page = await pageOf("listEvaluators");
    for (const words of [
      "GET /v1/accounts/{account_id}/evaluators\n",
      "[`client.evaluators.list`](/api/tunerank.md#evaluatorsoperations)",
      "Its retry class is [`read`](/guide/extensions.md#x-retry): it is idempotent.",
      "A call takes at most 20 s by default. Its response may have 1 MiB.",
      "## Path\n",
      "| `account_id` required |",
      "## Query\n",
      "| `page_size` optional | integer (int64) | How many at most. At least 1. |",
      "| `state` optional | array of [EvaluatorState](/enums/EvaluatorState.md) |",
      "`label=A&label=B`",
      "## Headers\n",
      "| `x-view` optional | string |",
      "The request has no body.",
      "| `evaluators[].displayName` optional | string |",
    ])
      expect(page).toContain(words);
    expect(page).not.toContain("FailureLab");
    expect(page).not.toContain("## Try it");
    expect(await pageOf("deleteEvaluator")).toContain("HTTP 204. It is deleted. The response has no body.");
    expect(await pageOf("downloadDataset")).toContain(
      "HTTP 200, `application/octet-stream`. The bytes. The body is bytes.",
    );
    expect(await pageOf("createEvaluator")).toContain("`application/json`. What the evaluator is like.");
    expect(await readCopy("site/enums/EvaluatorState.md")).toContain(
      "| `EVALUATOR_STATE_READY` | It can judge. |",
    );
    expect(await readCopy("site/reference/limits.md")).toContain(
      "| `page_size` | `listEvaluators` | At least 1",
    );
  });

  test("the methods in the TypeScript API, and the kinds in the tables of retries", async () => {
    const api = `${await readCopy("site/api/tunerank.md")}${await readCopy("site/api/generated/types.md")}`;
    expect(api).toContain("get(datasetId: string, options?: CallOptions): CallPromise<Dataset>;");
    for (const name of ["DatasetsOperations", "EvaluatorsOperations", "Evaluator", "DatasetFormat"])
      expect(api).toContain(`### ${name}\n`);
    const titles =
      "| start (resume, start) | read (rerank, get, download, list) | set (scale, replace, delete) | append (upload, create) |";
    expect(await readCopy("README.md")).toContain(
      "| resume, start | rerank, get, download, list | scale, replace, delete | upload, create |",
    );
    for (const file of ["site/guide/decision-table.md", "site/guide/retries.md", "site/codes/index.md"])
      expect(await readCopy(file)).toMatch(
        new RegExp(titles.replaceAll(/[|()]/g, "\\$&").replaceAll(/ +/g, " +")),
      );
  });
});

interface Use {
  readonly call: (client: AddedClient, options?: CallOptions) => CallPromise<unknown>;
  readonly request: { method: string; url: string; body?: unknown; headers?: object };
  /** How often it is sent when each connection is lost before the response. */
  readonly whenLost: number;
  readonly timeoutMs: number;
}

const accounts = "/v1/accounts/acme";
const grader = { displayName: "Grader", threshold: 3 };
const list = {
  page_size: 10,
  label: ["a b", "c&d"],
  state: ["EVALUATOR_STATE_READY"],
  archived: true,
  "x-view": "basic",
};

const uses: Readonly<Record<string, Use>> = {
  getDataset: {
    call: (client, options) => client.datasets.get("été: 1 & 2", options),
    request: { method: "GET", url: `${accounts}/datasets/%C3%A9t%C3%A9%3A%201%20%26%202` },
    whenLost: 3,
    timeoutMs: 20_000,
  },
  downloadDataset: {
    call: (client, options) => client.datasets.download("reviews", options),
    request: {
      method: "GET",
      url: `${accounts}/datasets/reviews:download`,
      headers: { accept: "application/octet-stream" },
    },
    whenLost: 3,
    timeoutMs: 60_000,
  },
  listEvaluators: {
    call: (client, options) => client.evaluators.list(list, options),
    request: {
      method: "GET",
      url: `${accounts}/evaluators?page_size=10&label=a%20b&label=c%26d&state=EVALUATOR_STATE_READY&archived=true`,
      headers: { "x-view": "basic" },
    },
    whenLost: 3,
    timeoutMs: 20_000,
  },
  createEvaluator: {
    call: (client, options) => client.evaluators.create(grader, options),
    request: { method: "POST", url: `${accounts}/evaluators`, body: grader },
    whenLost: 1,
    timeoutMs: 30_000,
  },
  replaceEvaluator: {
    call: (client, options) => client.evaluators.replace("grader", grader, options),
    request: { method: "PUT", url: `${accounts}/evaluators/grader`, body: grader },
    whenLost: 3,
    timeoutMs: 30_000,
  },
  deleteEvaluator: {
    call: (client, options) => client.evaluators.delete("grader", options),
    request: { method: "DELETE", url: `${accounts}/evaluators/grader` },
    whenLost: 3,
    timeoutMs: 30_000,
  },
  startEvaluator: {
    call: (client, options) => client.evaluators.start("grader", options),
    request: { method: "POST", url: `${accounts}/evaluators/grader:start` },
    whenLost: 1,
    timeoutMs: 30_000,
  },
};

const connected = (options: ClientOptions = {}): AddedClient =>
  createClient({ baseUrl: server.url, apiKey: canaryKey, accountId: "acme", ...options });

test.each(Object.entries(uses))("%s ends at the deadline of its row", async (operation, row) => {
  server.reply(silence);
  clock.install();
  const running = failureOf(() => row.call(connected()));
  await Promise.race([server.received(), running]);
  clock.pass(row.timeoutMs - 2);
  expect(await isPending(running)).toBe(true);
  clock.pass(2);
  expect(await running).toMatchObject({ operation, code: "DEADLINE_EXCEEDED", codeSource: "client" });
});

describe.each(transports)("over $name", ({ options }) => {
  const client = (): AddedClient => connected(options);

  test.each(Object.entries(uses))("%s sends what its row says", async (_, { call, request }) => {
    const { method, url, body, headers = {} } = request;
    await call(client());
    const { only } = server;
    expect({ method: only.method, url: only.url }).toEqual({ method, url });
    expect(only.headers).toMatchObject({ authorization: `Bearer ${canaryKey}`, ...headers });
    expect(only.body.toString()).toBe(body === undefined ? "" : JSON.stringify(body));
    if (body !== undefined) {
      expect(only.headers["content-type"]).toBe("application/json");
      expect(only.headers["content-length"]).toBe(`${only.body.length}`);
    } else {
      expect(only.headers).not.toHaveProperty("content-type");
      // A POST without a body says so; the others have no length at all.
      expect(only.headers["content-length"]).toBe(method === "POST" ? "0" : undefined);
    }
  });

  test("responses are read as their rows say: JSON, nothing, bytes", async () => {
    server.reply({ json: { name: "accounts/acme/datasets/reviews", unknown: [1] } });
    expect(await client().datasets.get("reviews")).toEqual({
      name: "accounts/acme/datasets/reviews",
      unknown: [1],
    });
    const bytes = Uint8Array.from({ length: 4096 }, (_, index) => index % 256);
    server.reply({ text: bytes, headers: { "content-type": "application/octet-stream" } });
    expect(Buffer.from(await client().datasets.download("reviews"))).toEqual(Buffer.from(bytes));
    server.reply({ status: 204, text: "" });
    expect(await client().evaluators.delete("grader")).toBeUndefined();
  });

  test.each(Object.entries(uses))(
    "%s is repeated after a lost connection as its kind says",
    async (operation, { call, whenLost }) => {
      server.reply(reset);
      expect(await failureOf(() => call(client()))).toMatchObject({ operation, executed: "unknown" });
      expect(server.requests).toHaveLength(whenLost);
    },
  );

  test("a response that is larger than its row says is not read", async () => {
    server.reply({ text: new Uint8Array(4097) });
    expect(await failureOf(() => client().datasets.download("reviews"))).toMatchObject({
      operation: "downloadDataset",
      executed: "yes",
    });
    expect(server.requests).toHaveLength(1);
  });
});

// The rules of fields have their words in schemaRules.test.ts, and those of the command line beside it.
test.each<[what: string, call: (client: AddedClient) => CallPromise<unknown>, name: string]>([
  ["a path for an id", ({ datasets }) => datasets.get("accounts/acme/datasets/reviews"), "datasetId"],
  ["an id that is no text", ({ datasets }) => datasets.get(7 as never), "datasetId"],
  ["a missing field", ({ evaluators }) => evaluators.create({}), "displayName"],
  ["a body that is none", ({ evaluators }) => evaluators.replace("grader", null as never), "body"],
  ["a list that is none", ({ evaluators }) => evaluators.list({ label: "a" }), "label"],
  ["a parameter that there is not", ({ evaluators }) => evaluators.list({ pageSize: 1 }), "pageSize"],
  ["no such option", ({ evaluators }) => evaluators.start("grader", { timeout: 1 } as never), "timeout"],
])("%s is refused before anything is sent", async (_, call, name) => {
  const error: StatusError = await failureOf(() => call(connected()));
  expect(error.code).toBe("INVALID_ARGUMENT");
  expect(error.message).toContain(name);
  expect(server.requests).toEqual([]);
});
