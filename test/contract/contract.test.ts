import { describe, expect, test } from "vitest";
import { httpStatuses, meanings, operations, requests } from "../../src/generated/contract.js";
import type { Code } from "../../src/generated/types.js";
import type { OperationId, RerankRequest, RerankResponse } from "../../src/index.js";
import {
  contract,
  contractOperations,
  idsWhere,
  isSafe,
  operationNamed,
  responseExample,
  schemaNamed,
} from "../support/contract.js";
import { codeTable, errorStatuses } from "../support/serviceTables.js";

// The service's facts: whoever adds an operation writes what the service's document says of it here too. The last is
// the media type of its body, which it needs.
const operationTable = [
  [
    "resumeReinforcementFineTuningJob",
    "POST",
    "/v1/accounts/{account_id}/reinforcementFineTuningJobs/{reinforcement_fine_tuning_job_id}:resume",
    "application/json",
  ],
  ["rerankDocuments", "POST", "/inference/v1/rerank", "application/json"],
  [
    "scaleDeployment",
    "PATCH",
    "/v1/accounts/{account_id}/deployments/{deployment_id}:scale",
    "application/json",
  ],
  [
    "uploadDatasetFile",
    "POST",
    "/v1/accounts/{account_id}/datasets/{dataset_id}:upload",
    "multipart/form-data",
  ],
];

// What we decided of each: the method of clients, what a repeat does, the deadline, the most bytes of a response.
// What a call of an unknown outcome is told to look at.
const whenUnknown: Readonly<Record<string, string>> = {
  resumeReinforcementFineTuningJob:
    "The job may have been resumed: check the job with the service's other operations before you resume it again.",
  uploadDatasetFile:
    "The file may have been stored: check the dataset with the service's other operations before you upload it again.",
};

const decisions = {
  resumeReinforcementFineTuningJob: ["reinforcementFineTuningJobs.resume", "start", 30_000, 1024 * 1024],
  rerankDocuments: ["rerank", "read", 60_000, 64 * 1024 * 1024],
  scaleDeployment: ["deployments.scale", "set", 30_000, 1024 * 1024],
  uploadDatasetFile: [
    "datasets.upload",
    "append",
    { baseMs: 60_000, bytesPerSecond: 256 * 1024 },
    1024 * 1024,
  ],
};

test("the contract is OpenAPI 3.1.0 and carries the service's version 5.10.0", () => {
  expect(contract.openapi).toBe("3.1.0");
  expect(contract.info.version).toBe("5.10.0");
});

test("every operation needs a bearer key", () => {
  expect(contract.security).toEqual([{ bearerAuth: [] }]);
  expect(contract.components.securitySchemes).toMatchObject({
    bearerAuth: { type: "http", scheme: "bearer" },
  });
  for (const { operation } of contractOperations) expect(operation).not.toHaveProperty("security");
});

describe("codes", () => {
  test("the contract has the service's 17 codes in the order of its table", () => {
    expect(codeTable).toHaveLength(17);
    expect(schemaNamed("Code").enum).toEqual(codeTable.map(([code]) => code));
  });

  test("each code has the HTTP status and the meaning of the service's table", () => {
    const statuses = Object.fromEntries(codeTable.map(([code, httpStatus]) => [code, httpStatus]));
    const meanings = Object.fromEntries(codeTable.map(([code, , meaning]) => [code, meaning]));
    expect(schemaNamed("Code")["x-http-statuses"]).toEqual(statuses);
    expect(schemaNamed("Code")["x-enumDescriptions"]).toEqual(meanings);
  });

  test("the generated tables equal the service's", () => {
    const generated = Object.entries(httpStatuses).map(([code, httpStatus]) => [
      code,
      httpStatus,
      meanings[code as Code],
    ]);
    expect(generated).toEqual(codeTable);
    expect(Object.keys(meanings)).toEqual(Object.keys(httpStatuses));
  });
});

describe("operations", () => {
  test("the service's facts: the contract has exactly the operations of the table", () => {
    const found = contractOperations.map(({ method, path, operation: { operationId, requestBody } }) => {
      const types = Object.keys(requestBody?.content ?? {});
      return [operationId, method, path, ...(requestBody?.required ? types : [])];
    });
    expect(found).toEqual(operationTable);
  });

  // What tools for assistants show of an operation first, or alone.
  test.each(contractOperations)(
    "$operation.operationId is told in a first sentence of under 120 characters",
    ({ operation: { description } }) => {
      const [sentence = ""] = /^[A-Z][a-z]+s .*?\.(?= |$)/.exec(description.replaceAll(/\s+/g, " ")) ?? [];
      expect(sentence).not.toBe("");
      expect(sentence.length).toBeLessThan(120);
    },
  );

  test("the service's facts: each operation says what was decided of it where they are silent", () => {
    const found = contractOperations.map(({ operation }) => [
      operation.operationId,
      [
        operation["x-sdk-method"],
        operation["x-retry"],
        operation["x-timeout-ms"],
        operation["x-max-response-bytes"],
      ],
    ]);
    expect(Object.fromEntries(found)).toEqual(decisions);
    for (const { operation } of contractOperations)
      expect(operation["x-when-unknown"]).toBe(whenUnknown[operation.operationId]);
  });

  test.each(contractOperations)(
    "the generated row of $operation.operationId says what the contract says of it",
    ({ method, path, operation }) => {
      const { value, accept, ...row } = operations[operation.operationId as OperationId];
      const time = operation["x-timeout-ms"];
      const { baseMs, bytesPerSecond } = typeof time === "number" ? { baseMs: time } : time;
      expect(row).toEqual({
        method,
        path,
        kind: operation["x-retry"],
        timeoutMs: baseMs,
        bytesPerSecond,
        maxResponseBytes: operation["x-max-response-bytes"],
        whenUnknown: operation["x-when-unknown"] ?? (isSafe({ operation }) ? undefined : expect.any(String)),
      });
      const { content = {} } = operation.responses["200"] ?? {};
      if ("application/json" in content) expect([value, accept]).toEqual([undefined, undefined]);
    },
  );

  test("the generated table has no other row", () => {
    expect(Object.keys(operations)).toEqual(idsWhere(() => true));
  });

  test.each(contractOperations)(
    "$operation.operationId lists success, each error status and default",
    ({ operation: { responses } }) => {
      const found = Object.keys(responses);
      const [success = ""] = found.filter((status) => status.startsWith("2"));
      const statuses = [success, ...errorStatuses.map(([httpStatus]) => String(httpStatus)), "default"];
      expect(found.sort()).toEqual(statuses.sort());
    },
  );

  test.each(errorStatuses)(
    "status %i has one example for each of its codes, the first %s",
    (status, first) => {
      const response = operationNamed("rerankDocuments").responses[status];
      const shared = contract.components.responses[response?.$ref?.split("/").pop() ?? ""];
      const examples = shared?.content?.["application/json"]?.examples ?? {};
      const expected = codeTable.filter(([, httpStatus]) => httpStatus === status).map(([code]) => code);
      expect(Object.keys(examples)[0]).toBe(first);
      expect(Object.keys(examples).sort()).toEqual(expected.sort());
      for (const [name, { value }] of Object.entries(examples)) expect(value).toMatchObject({ code: name });
    },
  );

  test("the generated rules are those of the requests", () => {
    expect(requests).toMatchObject({
      resumeReinforcementFineTuningJob: { body: { type: "object", additionalProperties: false } },
      rerankDocuments: {
        contentType: "application/json",
        body: {
          required: ["query", "documents"],
          properties: {
            query: { type: "string" },
            documents: { type: "array", minItems: 1, items: { type: "string" } },
            model: { type: "string", pattern: "^accounts/[^/]+/models/[^/]+$" },
            top_n: { type: "integer", minimum: 1 },
            return_documents: { type: "boolean" },
            task: { type: "string" },
          },
        },
      },
      scaleDeployment: {
        body: { required: ["replicaCount"], properties: { replicaCount: { type: "integer", minimum: 0 } } },
      },
      uploadDatasetFile: {
        contentType: "multipart/form-data",
        body: {
          required: ["file"],
          properties: { file: { type: "string", "x-max-bytes": 150 * 1024 * 1024 } },
        },
      },
    });
  });
});

test("the rerank example's response fits its request", () => {
  const { content = {} } = operationNamed("rerankDocuments").requestBody ?? {};
  const [example] = Object.values(content["application/json"]?.examples ?? {});
  const request = example?.value as RerankRequest;
  const response = responseExample("rerankDocuments") as RerankResponse;
  const scores = response.data.map(({ relevance_score }) => relevance_score);
  expect(response.data).toHaveLength(request.top_n as number);
  expect(response.model).toBe(request.model);
  expect(scores).toEqual([...scores].sort((a, b) => b - a));
  expect(new Set(response.data.map(({ index }) => index)).size).toBe(response.data.length);
  for (const { index, document } of response.data) expect(document).toBe(request.documents[index]);
});
