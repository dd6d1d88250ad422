import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeEach, describe, expect, inject, test } from "vitest";
import type { OperationId } from "../../src/index.js";
import { createTestService } from "../../src/testing/index.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf, operationCalls, transports } from "../support/clients.js";
import {
  contract,
  contractOperations,
  errorStatuses,
  exampleBody,
  failureTable,
  responseExample,
} from "../support/contract.js";

const authorization = `Bearer ${canaryKey}`;
const service = createTestService();
const server = await service.listen();
afterAll(() => server.close());
beforeEach(() => service.reset());

/** What stands in for the service, and keeps to the contract. */
interface ContractMock {
  readonly name: string;
  readonly url: string;
  /** Headers for the next request, to which it is to respond with this failure; without a code, the status's first. */
  refuse(operation: OperationId, status: number, code?: string): Record<string, string>;
}

const prism: ContractMock = {
  name: "Prism",
  url: inject("mockUrl"),
  refuse: (_operation, status, code) => ({
    prefer: code === undefined ? `code=${status}` : `code=${status}, example=${code}`,
  }),
};
const mocks: readonly ContractMock[] = [
  prism,
  {
    name: "tunerank/testing",
    url: server.url,
    refuse(operation, status, code = new Map(errorStatuses).get(status)) {
      service.fail(operation, { status, code: code as "UNKNOWN" });
      return {};
    },
  },
];

function form(type: string, part = "file"): FormData {
  const data = new FormData();
  data.append(part, new Blob(["{}\n"], { type }), "train.jsonl");
  return data;
}

describe.each(mocks)("the contract's operations served by $name", (mock) => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(contract, "contract");

  /** The contract's own judgement of a successful response: what it finds wrong, else null. */
  function problemsOf(operationId: string, response: unknown): unknown {
    const { method = "", path = "" } =
      contractOperations.find(({ operation }) => operation.operationId === operationId) ?? {};
    const place = [path, method.toLowerCase(), "responses", "200", "content", "application/json", "schema"];
    const pointer = place.map((part) => part.replaceAll("~", "~0").replaceAll("/", "~1")).join("/");
    const validate = ajv.compile({ $ref: `contract#/paths/${encodeURI(pointer)}` });
    validate(response);
    return validate.errors;
  }

  describe.each(transports)("over $name", ({ options }) => {
    const client = connect(mock.url, options);

    test.each(operationCalls.filter(({ operation }) => operation !== "scaleDeployment"))(
      "$operation resolves to a response of the contract",
      async ({ operation, call }) => {
        const { data, httpStatus } = await call(client).withResponse();
        expect([httpStatus, problemsOf(operation, data)]).toEqual([200, null]);
        if (mock === prism) expect(data).toEqual(responseExample(operation));
      },
    );

    test.each([2, 0])("scaleDeployment to %i resolves to nothing", async (replicaCount) => {
      const { data, httpStatus } = await client.deployments.scale("prod", replicaCount).withResponse();
      expect([httpStatus, data]).toEqual([200, undefined]);
    });
  });

  test.each(operationCalls)("$operation: each status and each code is kept", async ({ operation, call }) => {
    const client = connect(mock.url);
    const failures = [
      ...errorStatuses.map(([status, code]) => ({ status, code, example: undefined })),
      ...failureTable.map(([code, status]) => ({ status, code, example: code })),
    ];
    for (const { status, code, example } of failures) {
      const headers = mock.refuse(operation, status, example);
      const error = await failureOf(() => call(client, { headers }));
      const named = { code, httpStatus: status, operation, inferred: false, codeSource: "body" };
      expect(error).toMatchObject({ ...named, body: { code } });
      expect(error.message.startsWith(`[${code}] `)).toBe(true);
    }
  });

  // What this client would refuse itself, or never leaves out: sent by hand, so that the contract speaks.
  async function statusOf(
    [method, path, body]: readonly [method: string, path: string, body: string | FormData | undefined],
    headers: Record<string, string> = { authorization },
  ): Promise<number> {
    const type = typeof body === "string" ? { "content-type": "application/json" } : undefined;
    const response = await fetch(mock.url + path, {
      method,
      body: body ?? null,
      headers: { ...type, ...headers },
    });
    await response.arrayBuffer();
    return response.status;
  }

  test.each(operationCalls)("$operation without a key is 401", async ({ operation, method, path }) => {
    const request = [method, path, exampleBody(operation)] as const;
    expect([await statusOf(request, {}), await statusOf(request)]).toEqual([401, 200]);
  });

  const rerank = ["POST", "/inference/v1/rerank"] as const;
  const scale = ["PATCH", "/v1/accounts/acme/deployments/prod:scale"] as const;
  const resume = ["POST", "/v1/accounts/acme/reinforcementFineTuningJobs/job-1:resume"] as const;
  const upload = ["POST", "/v1/accounts/acme/datasets/reviews:upload"] as const;
  const wrong: readonly (readonly [what: string, request: Parameters<typeof statusOf>[0]])[] = [
    ["a rerank without documents", [...rerank, '{"query":"q"}']],
    ["a rerank without a query", [...rerank, '{"documents":["d"]}']],
    ["a rerank of no documents", [...rerank, '{"query":"q","documents":[]}']],
    ["a rerank of documents that are no strings", [...rerank, '{"query":"q","documents":[1]}']],
    ["a rerank with top_n 0", [...rerank, '{"query":"q","documents":["d"],"top_n":0}']],
    ["a rerank with a fractional top_n", [...rerank, '{"query":"q","documents":["d"],"top_n":1.5}']],
    ["a rerank with an ill-formed model", [...rerank, '{"query":"q","documents":["d"],"model":"m"}']],
    ["a scale without replicaCount", [...scale, "{}"]],
    ["a scale to -1", [...scale, '{"replicaCount":-1}']],
    ["a scale to a string", [...scale, '{"replicaCount":"2"}']],
    ["a resume with a field", [...resume, '{"state":"JOB_STATE_RUNNING"}']],
    ["an upload whose part has another name", [...upload, form("", "data")]],
  ];
  test.each(wrong)("%s is 400", async (_what, request) => {
    expect(await statusOf(request)).toBe(400);
  });

  test.each(["application/octet-stream", "text/plain", "application/jsonl", "application/x-made-up"])(
    "a file that its caller calls %s is taken",
    async (type) => {
      expect(await statusOf([...upload, form(type)])).toBe(200);
    },
  );

  test("the verb of a path is literal: an encoded colon is another path", async () => {
    const [method, path] = resume;
    expect(await statusOf([method, path, "{}"])).toBe(200);
    expect(await statusOf([method, path.replace(":resume", "%3Aresume"), "{}"])).not.toBe(200);
  });
});
