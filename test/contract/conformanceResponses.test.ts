// A client that follows the contract's own advice refuses a good response that does not fit its request.
import { describe, expect, test } from "vitest";
import type { OperationId, RerankRequest, RerankResponse } from "../../src/index.js";
import { contract, operationNamed, responseExamples } from "../support/contract.js";
import { conformanceFile } from "../support/decisionRows.js";

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
