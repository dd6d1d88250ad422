import { cp, readFile } from "node:fs/promises";
import path from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeAll, expect, test, vi } from "vitest";
import { added, useAddedOperations } from "../support/addedOperations.js";
import type { certifyOwnClient } from "../support/conformance/certifyOwnClient.js";
import {
  certifyClient,
  findGo,
  findJava,
  findPhp,
  findPython,
  type Language,
} from "../support/conformance/clients.js";
import { next, post, type Runner, runnerOf } from "../support/conformance/runner.js";
import { launch, root, run } from "../support/project.js";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

const node = ["--conditions=tunerank-source", "--import", "tsx"];
const hasLanguage: Readonly<Record<Language, boolean>> = {
  python: (await findPython()) !== undefined,
  php: await findPhp(),
  go: await findGo(),
  java: await findJava(),
};
const copy = useAddedOperations();
let certify: typeof certifyOwnClient;

beforeAll(async () => {
  const support = path.join(copy.folder, "test/support");
  await cp(path.join(root, "test/support"), support, { recursive: true });
  ({ certifyOwnClient: certify } = await import(path.join(support, "conformance/certifyOwnClient.ts")));
});

// Each of the added operations in rows of every kind: with a response, refused, repeated, lost on the way.
const sample = [
  "success-at-once",
  "status-409",
  "unavailable-named",
  "body-truncated",
  "reset-before-headers",
].flatMap((event) => added.map((id) => `retries/${event}/${id}`));
const exchanges = [
  "retry-after-past-default-deadline",
  "ids-with-every-character",
  "non-ascii-answer",
  "answer-in-gzip",
  "answer-of-1-mib-and-one",
]
  .map((name) => `exchanges/${name}/startEvaluator`)
  .concat("exchanges/text-of-all-planes/listEvaluators", "exchanges/text-of-all-planes/createEvaluator")
  .concat("form/value/downloadDataset");

const startRunner = (rows: readonly string[]): Promise<Runner> => {
  const args = ["src/cli/main.ts", "conformance", "--port", "0", "--json"];
  const only = rows.flatMap((row) => ["--only", row]);
  return runnerOf(launch(process.execPath, [...node, ...args, ...only], { cwd: copy.folder }));
};
const read = async (project: string, name: string) =>
  JSON.parse(await readFile(path.join(project, "contract/conformance", name), "utf8"));

interface ExchangeRow {
  readonly name: string;
  readonly operations: Readonly<Record<string, object>>;
}

interface Row {
  readonly event: string;
  readonly operations: Readonly<Record<string, { readonly value?: true; readonly requests: number }>>;
}

test("the data has rows for the added operations, and those of the others are as before", async () => {
  const [rows, before] = (await Promise.all(
    [copy.folder, root].map(async (project) => (await read(project, "retries.json")).rows),
  )) as [Row[], Row[]];
  const jsonOnly = before.filter(({ event }) =>
    /^(not-json|other-success|html|incomplete|success-(that-is-newer|after-not-json|after-incomplete))/.test(
      event,
    ),
  );
  expect(jsonOnly.length).toBeGreaterThan(8);
  for (const [index, { event, operations }] of rows.entries()) {
    expect(operations).toMatchObject(before[index]?.operations ?? {});
    const others = jsonOnly.some((each) => each.event === event)
      ? ["downloadDataset", "deleteEvaluator"]
      : [];
    expect(added.filter((id) => !(id in operations))).toEqual(others);
  }
  const lost = rows.find(({ event }) => event === "reset-before-headers")?.operations ?? {};
  expect(added.map((id) => lost[id]?.requests)).toEqual([3, 3, 3, 1, 3, 3, 1]);
});

test("rows of exchanges.json that hold for any operation hold for the added ones, and stay up to date", async () => {
  const rowsOf = async (project: string): Promise<ExchangeRow[]> =>
    (await read(project, "exchanges.json")).rows;
  const [rows, before] = await Promise.all([rowsOf(copy.folder), rowsOf(root)]);
  const named = (name: string) => Object.keys(rows.find((row) => row.name === name)?.operations ?? {});
  const json = added.filter((id) => !["downloadDataset", "deleteEvaluator"].includes(id));
  const withIds = added.filter((id) => !["listEvaluators", "createEvaluator"].includes(id));
  for (const [name, ids] of Object.entries({
    "retry-after-past-default-deadline": added,
    "ids-with-every-character": withIds,
    "text-of-all-planes": ["listEvaluators", "createEvaluator", "replaceEvaluator"],
    "ids-that-lead-elsewhere": withIds,
    "unknown-members": json,
    "non-ascii-answer": json,
    "answer-of-1-mib-and-one": json,
    "answer-in-gzip": json,
    "answer-of-another-2xx": json,
    "own-connection": ["createEvaluator", "startEvaluator"],
  }))
    expect([name, named(name).filter((id) => added.includes(id))]).toEqual([name, ids]);
  for (const [index, { operations }] of rows.entries())
    expect(operations).toMatchObject(before[index]?.operations ?? {});
  const check = await run(process.execPath, [...node, "scripts/generate/run.ts", "--check"], {
    cwd: copy.folder,
  });
  expect(check.stdout + check.stderr).toBe("All that is generated is up to date.\n");
  const needed = await readFile(path.join(copy.folder, "contract/conformance/README.md"), "utf8");
  expect(needed).toContain("| `getDataset` | nothing: every member may be absent |");
});

test.each(["retries", "operations", "parameters", "exchanges"])(
  "%s.json is still what its schema describes",
  async (name) => {
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false, allErrors: true });
    ajv.validate(await read(copy.folder, `${name}.schema.json`), await read(copy.folder, `${name}.json`));
    expect(ajv.errors).toBeNull();
  },
);

test("our client passes every row of the added operations", async () => {
  const { url, outcome, report } = await startRunner(added.map((id) => `/${id}`));
  await certify(url);
  const { rows, passed, skippedFor } = await report();
  expect(rows.filter(({ result }) => result === "failed")).toEqual([]);
  expect(Object.keys(skippedFor).filter((name) => !name.startsWith("this machine"))).toEqual([]);
  expect(passed).toBeGreaterThan(1300);
  expect((await outcome).exitCode).toBe(0);
});

test.for(Object.keys(hasLanguage) as Language[])(
  "the client in contract/conformance/%s takes them from operations.json",
  async (language, { skip }) => {
    skip(!hasLanguage[language]);
    // HTTP libraries send a GET again by themselves, and do not say when one without a body is sent.
    const gets = ["exchanges/lost-after-an-unclear-answer", "retries/tunnel-credentials"];
    const asked = [...sample, ...exchanges, ...gets.map((row) => `${row}/getDataset`)];
    const { url, report } = await startRunner(asked);
    const stderr = await certifyClient(language, url, { project: copy.folder });
    const { rows, passed } = await report();
    expect(rows.filter(({ result }) => result === "failed")).toEqual([]);
    expect([passed, stderr]).toEqual([asked.length, ""]);
  },
);

test("the runner says what is wrong with a query, a header, a body and a value", async () => {
  const query = "page_size=10&label=c%26d&label=a+b&state=EVALUATOR_STATE_READY&archived=true&x=1";
  const wrong: Readonly<Record<string, readonly [target: string, init: RequestInit, value: unknown]>> = {
    downloadDataset: ["/datasets/support-answers:download", {}, "line 1"],
    listEvaluators: [`/evaluators?${query}`, { headers: { "x-view": "full" } }, {}],
    startEvaluator: ["/evaluators/grader:start", { method: "POST", body: "{}" }, { name: "other" }],
  };
  const ids = Object.keys(wrong);
  const { url, outcome } = await startRunner(ids.map((id) => `retries/success-at-once/${id}`));
  const said: Record<string, unknown> = {};
  for (const _ of ids) {
    const { id, operation, baseUrl, apiKey } = (await next(url)) as Record<string, string>;
    const [target, init, value] = wrong[operation ?? ""] ?? ["", {}];
    const headers = { authorization: `Bearer ${apiKey}`, ...(init.headers as object) };
    await fetch(`${baseUrl}/v1/accounts/acme${target}`, { ...init, headers });
    const [, { differences }] = await post(url, { id, value, attempts: 1 });
    said[operation ?? ""] = differences;
  }
  expect(said).toEqual({
    downloadDataset: ['value: "line 1" instead of "line 1\\nline 2\\n"'],
    listEvaluators: [
      'request 1: parameter label: ["c&d","a b"] instead of ["a b","c&d"]',
      'request 1: parameter x: ["1"] instead of []',
      'request 1: header x-view: ["full"] instead of ["basic"]',
      "value: evaluators not as in the response",
    ],
    startEvaluator: [
      "request 1: there is a body, and none is due",
      "value: name, displayName not as in the response",
    ],
  });
  expect((await outcome).exitCode).toBe(1);
});
