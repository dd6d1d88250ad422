import { readFileSync } from "node:fs";
import path from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import type { ExchangeRow, RetryRow } from "../../src/conformance/data.js";
import type { OperationId, RerankRequest, RerankResponse } from "../../src/index.js";
import { backoff } from "../../src/policy/decisions.js";
import { contract, operationNamed, responseExamples } from "../support/contract.js";
import { allRows, conformanceFile } from "../support/decisionRows.js";
import { root } from "../support/project.js";

// A client that follows the contract's own advice refuses a good response that does not fit its request.

interface Exchange {
  readonly arguments: {
    readonly account_id: string;
    readonly reinforcement_fine_tuning_job_id: string;
    readonly body: RerankRequest;
    readonly file: { readonly name: string; readonly content: string };
  };
  readonly answer: Readonly<Record<string, unknown>>;
}

const { operations } = conformanceFile("operations.json") as {
  operations: Readonly<Record<OperationId, Exchange>>;
};

/** What a mock of the contract sends, and what the contract's first example of a request asks for. */
function examplesOf(operation: OperationId): Pick<Exchange, "answer">[] {
  return responseExamples(operation).map(([, response]) => ({ answer: response as Exchange["answer"] }));
}

function expectFits({ query, documents, top_n = documents.length }: RerankRequest, response: unknown): void {
  const { data, model } = response as RerankResponse;
  expect(query).not.toBe("");
  expect(new Set(data.map(({ index }) => index)).size).toBe(data.length);
  expect(data).toHaveLength(Math.min(top_n, documents.length));
  for (const { index, document } of data) expect(document).toBe(documents[index]);
  const scores = data.map(({ relevance_score: score }) => score);
  expect(scores).toEqual([...scores].sort((a, b) => b - a));
  expect(model).toMatch(/^accounts\//);
}

describe("the good response of the conformance data", () => {
  test("to a rerank ranks documents that were sent, as many as were asked for, by the model that was named", () => {
    const { arguments: given, answer } = operations.rerankDocuments;
    expectFits(given.body, answer);
    expect(answer.model).toBe(given.body.model);
  });

  test("to an upload has the name and the size of the file that was sent", () => {
    const { arguments: given, answer } = operations.uploadDatasetFile;
    expect(answer).toMatchObject({ filename: given.file.name, bytes: Buffer.byteLength(given.file.content) });
  });

  test("to a resume is the job of that account and id", () => {
    const { arguments: given, answer } = operations.resumeReinforcementFineTuningJob;
    expect(answer.name).toBe(
      `accounts/${given.account_id}/reinforcementFineTuningJobs/${given.reinforcement_fine_tuning_job_id}`,
    );
  });
});

test("so do the examples of the contract, which a mock responds with", () => {
  const { examples } = operationNamed("rerankDocuments").requestBody?.content["application/json"] ?? {};
  const asked = Object.entries(examples ?? {});
  expect(asked.map(([name]) => name)).toEqual(responseExamples("rerankDocuments").map(([name]) => name));
  for (const [index, [, { value }]] of asked.entries())
    expectFits(value as RerankRequest, examplesOf("rerankDocuments")[index]?.answer);
  const parameters = contract.components as unknown as {
    parameters: Readonly<Record<string, { example: string }>>;
  };
  const { AccountId, ReinforcementFineTuningJobId } = parameters.parameters;
  const job = `accounts/${AccountId?.example}/reinforcementFineTuningJobs/${ReinforcementFineTuningJobId?.example}`;
  for (const { answer } of examplesOf("resumeReinforcementFineTuningJob")) expect(answer.name).toBe(job);
  const [file] = Object.values(
    operationNamed("uploadDatasetFile").requestBody?.content["multipart/form-data"]?.examples ?? {},
  ).map(({ value }) => (value as { file: string }).file);
  for (const { answer } of examplesOf("uploadDatasetFile"))
    expect(answer.bytes).toBe(Buffer.byteLength(`${file}`));
});

describe("the conformance data", () => {
  test.each(["retries", "errors", "exchanges", "mutants", "operations", "parameters"])(
    "%s.json is what its schema describes",
    (name) => {
      const schema = conformanceFile(`${name}.schema.json`) as object;
      const ajv = new Ajv2020({
        strict: true,
        allowUnionTypes: true,
        strictRequired: false,
        allErrors: true,
      });
      ajv.validate(schema, conformanceFile(`${name}.json`));
      expect(ajv.errors).toBeNull();
    },
  );

  test("names every event once", () => {
    const events = allRows.map(({ event }) => event);
    expect(new Set(events).size).toBe(events.length);
  });
});

const { rows: exchanges } = conformanceFile("exchanges.json") as { rows: readonly ExchangeRow[] };
const { rows: retries } = conformanceFile("retries.json") as { rows: readonly RetryRow[] };
const mostRetries = Math.max(
  ...[...retries, ...exchanges].flatMap(({ operations }) =>
    Object.values(operations).map(({ expected, ...own }: Record<string, unknown>) => {
      const { requests = 1, requestsByCall } = { ...own, ...(expected as object) } as Record<string, number>;
      return requestsByCall === undefined ? (requests ?? 1) - 1 : 2;
    }),
  ),
);
const files = exchanges.flatMap(({ large, operations }) =>
  Object.values(operations).map((own) => ({ large, ...(own.arguments?.file as { bytes?: number }) })),
);
const jitter = exchanges.flatMap(({ expected, operations }) =>
  [expected, ...Object.values(operations).map((own) => own.expected)].flatMap((each) => each?.waits ?? []),
);

/** What a point of the list says of the rows, by its first words. */
const unseen: Readonly<Record<string, () => boolean>> = {
  "a wait that never reaches its limit": () => backoff.baseMs * 2 ** mostRetries < backoff.capMs,
  "a first wait that may be up to twice the allowed maximum": () =>
    jitter.some(({ retry, maxMeanMs }) => retry === 1 && maxMeanMs > backoff.baseMs),
  "a default deadline that is a few seconds": () =>
    exchanges.some(({ name, operations }) =>
      Object.values(operations).some(
        ({ expected }) => name === "default-deadline" && (expected?.tookMs?.max ?? 0) >= 35_000,
      ),
    ),
  "a file of more than 17 MB": () =>
    files.every(({ large, bytes = 0 }) => large === true || bytes <= 17_000_003),
  "unexpected bytes after a response on its connection": () =>
    exchanges.some(({ needs }) => needs?.includes("bytes-behind")),
};

test("the guide lists what a run cannot see, and what the rows say of it holds", () => {
  const guide = readFileSync(path.join(root, "docs/guide/certify.md"), "utf8");
  const [, list = ""] = /What a run cannot see:\n\n((?:- .*\n)+)/.exec(guide) ?? [];
  for (const start of Object.keys(unseen)) expect(list).toContain(`- ${start}`);
  expect(Object.keys(unseen).filter((start) => !unseen[start]?.())).toEqual([]);
});
