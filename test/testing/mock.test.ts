import { once } from "node:events";
import http from "node:http";
import { text } from "node:stream/consumers";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeEach, describe, expect, inject, test } from "vitest";
import type { OperationId } from "../../src/index.js";
import { createTestService } from "../../src/testing/index.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf, operationCalls, transports } from "../support/clients.js";
import {
  contract,
  contractOperations,
  exampleBody,
  idsWhere,
  responseExample,
  responseExamples,
} from "../support/contract.js";
import { errorStatuses, failureTable } from "../support/serviceTables.js";

/** What stands in for the service, and keeps to the contract. */
interface ContractMock {
  readonly name: string;
  readonly url: string;
  /** Whether it responds with the contract's examples, whatever is sent. */
  readonly sendsExamples: boolean;
  /** Headers for the next request, to which it is to respond with this failure; without a code, the status's first. */
  refuse(operation: OperationId, httpStatus: number, code?: string): Record<string, string>;
  /** Forgets what was asked of it. */
  reset(): void;
}

/** Both of them, for the tests of the calling file. */
async function useContractMocks(): Promise<readonly ContractMock[]> {
  const service = createTestService();
  const server = await service.listen();
  afterAll(() => server.close());
  const prism: ContractMock = {
    name: "Prism",
    url: inject("mockUrl"),
    sendsExamples: true,
    refuse: (_operation, httpStatus, code) => ({
      prefer: code === undefined ? `code=${httpStatus}` : `code=${httpStatus}, example=${code}`,
    }),
    reset() {},
  };
  const mockServer: ContractMock = {
    name: "tunerank/testing",
    url: server.url,
    sendsExamples: false,
    refuse(operation, status, code = new Map(errorStatuses).get(status)) {
      service.fail(operation, { status, code: code as "UNKNOWN" });
      return {};
    },
    reset: () => service.reset(),
  };
  return [prism, mockServer];
}

describe("the examples", () => {
  const mockUrl = inject("mockUrl");
  const authorization = `Bearer ${canaryKey}`;
  const accepts = { "application/json": "application/json", "*/*": "*/*", none: undefined } as const;

  const examples = contractOperations.flatMap(({ method, path, operation }) =>
    Object.entries(operation.responses)
      .filter(([status]) => status !== "default")
      .flatMap(([status, { $ref, content }]) => {
        const shared = contract.components.responses[$ref?.split("/").pop() ?? ""];
        const named = (content ?? shared?.content)?.["application/json"]?.examples ?? {};
        return Object.entries(named).map(([name, { value }]) => ({
          title: `${operation.operationId} ${status} ${name}`,
          request: { method, path: path.replaceAll(/\{\w+\}/g, "acme"), operationId: operation.operationId },
          status: Number(status),
          name,
          value,
        }));
      }),
  );

  function form(type: string): FormData {
    const data = new FormData();
    data.append("file", new Blob(["{}\n"], { type }), "train.jsonl");
    return data;
  }

  interface MockResponse {
    readonly status: number | undefined;
    readonly type: string | undefined;
    readonly text: string;
  }

  // Over node:http: fetch always sends an Accept header.
  async function ask(
    { method, path, operationId }: (typeof examples)[number]["request"],
    headers: Record<string, string | undefined>,
    body: string | FormData | undefined = exampleBody(operationId),
  ): Promise<MockResponse> {
    const form = new Response(body);
    const type = typeof body === "string" ? "application/json" : form.headers.get("content-type");
    const given = Object.entries({ authorization, "content-type": type ?? "", ...headers });
    const sent = Object.fromEntries(given.filter(([, value]) => value !== undefined && value !== ""));
    const request = http.request(mockUrl + path, { method, headers: sent });
    request.end(Buffer.from(await form.arrayBuffer()));
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    return {
      status: response.statusCode,
      type: response.headers["content-type"],
      text: await text(response),
    };
  }

  test("every example of every response is asked for", () => {
    const good = idsWhere(() => true).map((id) => responseExamples(id).length);
    expect(Math.min(...good)).toBeGreaterThan(0);
    expect(examples).toHaveLength(good.reduce((sum, each) => sum + failureTable.length + each, 0));
  });

  test.each(Object.entries(accepts))(
    "the mock responds with every named example, Accept %s",
    async (_name, accept) => {
      for (const { title, request, status, name, value } of examples) {
        const response = await ask(request, { accept, prefer: `code=${status}, example=${name}` });
        expect({ title, status: response.status, body: JSON.parse(response.text) }).toEqual({
          title,
          status,
          body: value,
        });
      }
    },
  );

  test.each(Object.entries(accepts))(
    "the mock responds with every status alone, Accept %s",
    async (_name, accept) => {
      for (const status of new Set(examples.map((each) => each.status))) {
        const [first] = examples.filter((each) => each.status === status);
        if (first === undefined) continue;
        const response = await ask(first.request, { accept, prefer: `code=${status}` });
        expect({ status: response.status, body: JSON.parse(response.text) }).toEqual({
          status,
          body: first.value,
        });
      }
    },
  );

  test.each(Object.entries(accepts))(
    "a wrong body is 400 and a missing key 401, Accept %s",
    async (_name, accept) => {
      const [rerank] = examples.filter(({ request }) => request.operationId === "rerankDocuments");
      if (rerank === undefined) throw new Error("The contract has no rerank.");
      expect((await ask(rerank.request, { accept }, "{}")).status).toBe(400);
      expect((await ask(rerank.request, { accept, authorization: "" })).status).toBe(401);
    },
  );

  test.each(["text/html", "text/plain"])("a proxy's %s can be asked for", async (accept) => {
    const [rerank] = examples.filter(({ request }) => request.operationId === "rerankDocuments");
    if (rerank === undefined) throw new Error("The contract has no rerank.");
    const response = await ask(rerank.request, { accept, prefer: "code=503" });
    expect(response.status).toBe(503);
    expect(response.type).toContain(accept);
  });

  test.each([
    "application/octet-stream",
    "text/plain",
    "application/jsonl",
    "text/csv",
    "application/x-made-up",
  ])("the mock takes a file that its caller calls %s", async (type) => {
    const [upload] = examples.filter(({ request }) => request.operationId === "uploadDatasetFile");
    if (upload === undefined) throw new Error("The contract has no upload.");
    expect((await ask(upload.request, {}, form(type))).status).toBe(200);
  });
});

describe("the operations", async () => {
  const mocks = await useContractMocks();
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

  describe.each(mocks)("the contract's operations served by $name", (mock) => {
    beforeEach(() => mock.reset());

    describe.each(transports)("over $name", ({ options }) => {
      const client = connect(mock.url, options);

      test.each(operationCalls.filter(({ operation }) => operation !== "scaleDeployment"))(
        "$operation resolves to a response of the contract",
        async ({ operation, call }) => {
          const example = responseExample(operation);
          expect(example).toBeTypeOf("object");
          const { data, httpStatus } = await call(client).withResponse();
          expect(httpStatus).toBe(200);
          expect(problemsOf(operation, data)).toBeNull();
          if (mock.sendsExamples) expect(data).toEqual(example);
        },
      );

      test.each([2, 0])("scaleDeployment to %i resolves to nothing", async (replicaCount) => {
        const { data, httpStatus } = await client.deployments.scale("prod", replicaCount).withResponse();
        expect(httpStatus).toBe(200);
        expect(data).toBeUndefined();
      });

      describe.each(operationCalls)("$operation", ({ operation, call }) => {
        test.each(errorStatuses)("a response of %i is a StatusError with %s", async (httpStatus, code) => {
          const headers = mock.refuse(operation, httpStatus);
          const error = await failureOf(() => call(client, { headers }));
          expect(error).toMatchObject({ code, httpStatus, operation, inferred: false, codeSource: "body" });
          expect(error.message.startsWith(`[${code}] `)).toBe(true);
        });

        test.each(failureTable)("the code %s of status %i is kept", async (code, httpStatus) => {
          const headers = mock.refuse(operation, httpStatus, code);
          const error = await failureOf(() => call(client, { headers }));
          expect(error).toMatchObject({ code, httpStatus, operation, inferred: false, codeSource: "body" });
          expect(error.body).toMatchObject({ code });
        });
      });
    });
  });

  test("a response outside the contract would be seen", () => {
    expect(problemsOf("rerankDocuments", { object: "list", model: "m", data: [{}] })).not.toBeNull();
  });
});

describe("the refusals", async () => {
  // What this client would refuse itself, or never leaves out: sent by hand, so that the contract speaks.
  const mocks = await useContractMocks();
  const authorization = `Bearer ${canaryKey}`;

  interface Raw {
    readonly method: string;
    readonly path: string;
    readonly body: string | FormData | undefined;
  }

  function form(part: string): FormData {
    const data = new FormData();
    data.append(part, new Blob(['{"text":"good"}\n']), "train.jsonl");
    return data;
  }

  const rerank = { method: "POST", path: "/inference/v1/rerank" };
  const scale = { method: "PATCH", path: "/v1/accounts/acme/deployments/prod:scale" };
  const resume = { method: "POST", path: "/v1/accounts/acme/reinforcementFineTuningJobs/job-1:resume" };
  const upload = { method: "POST", path: "/v1/accounts/acme/datasets/reviews:upload" };

  describe.each(mocks)("$name", (mock) => {
    beforeEach(() => mock.reset());

    async function statusOf({ method, path, body }: Raw, headers: Record<string, string>): Promise<number> {
      const type = typeof body === "string" ? { "content-type": "application/json" } : undefined;
      const response = await fetch(mock.url + path, {
        method,
        body: body ?? null,
        headers: { ...type, ...headers },
      });
      await response.arrayBuffer();
      return response.status;
    }

    test.each(operationCalls)(
      "$operation without a key is refused with 401",
      async ({ operation, method, path }) => {
        const raw = { method, path, body: exampleBody(operation) };
        expect(await statusOf(raw, {})).toBe(401);
        expect(await statusOf(raw, { authorization })).toBe(200);
      },
    );

    test.each([
      ["a rerank without documents", { ...rerank, body: '{"query":"q"}' }],
      ["a rerank without a query", { ...rerank, body: '{"documents":["d"]}' }],
      ["a rerank of no documents", { ...rerank, body: '{"query":"q","documents":[]}' }],
      ["a rerank of documents that are no strings", { ...rerank, body: '{"query":"q","documents":[1]}' }],
      ["a rerank with top_n 0", { ...rerank, body: '{"query":"q","documents":["d"],"top_n":0}' }],
      [
        "a rerank with a fractional top_n",
        { ...rerank, body: '{"query":"q","documents":["d"],"top_n":1.5}' },
      ],
      [
        "a rerank with an ill-formed model",
        { ...rerank, body: '{"query":"q","documents":["d"],"model":"m"}' },
      ],
      ["a scale without replicaCount", { ...scale, body: "{}" }],
      ["a scale to -1", { ...scale, body: '{"replicaCount":-1}' }],
      ["a scale to a string", { ...scale, body: '{"replicaCount":"2"}' }],
      ["a resume with a field", { ...resume, body: '{"state":"JOB_STATE_RUNNING"}' }],
      ["an upload whose part has another name", { ...upload, body: form("data") }],
    ])("the contract refuses %s with 400", async (_name, raw) => {
      expect(await statusOf(raw, { authorization })).toBe(400);
    });

    test("the verb of a path is literal: an encoded colon is another path", async () => {
      const headers = { authorization };
      expect(await statusOf({ ...resume, body: "{}" }, headers)).toBe(200);
      expect(
        await statusOf({ ...resume, path: resume.path.replace(":resume", "%3Aresume"), body: "{}" }, headers),
      ).not.toBe(200);
    });
  });
});
