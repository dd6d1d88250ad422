import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeEach, describe, expect, test } from "vitest";
import { connect, failureOf, operationCalls, transports } from "../support/clients.js";
import { answerExample, contract, contractOperations } from "../support/contract.js";
import { useContractMocks } from "../support/contractMocks.js";
import { errorStatuses, failureTable } from "../support/serviceTables.js";

const mocks = await useContractMocks();
const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(contract, "contract");

/** The contract's own judgement of a successful answer: what it finds wrong, else null. */
function problemsOf(operationId: string, answer: unknown): unknown {
  const { method = "", path = "" } =
    contractOperations.find(({ operation }) => operation.operationId === operationId) ?? {};
  const place = [path, method.toLowerCase(), "responses", "200", "content", "application/json", "schema"];
  const pointer = place.map((part) => part.replaceAll("~", "~0").replaceAll("/", "~1")).join("/");
  const validate = ajv.compile({ $ref: `contract#/paths/${encodeURI(pointer)}` });
  validate(answer);
  return validate.errors;
}

describe.each(mocks)("the contract's operations answered by $name", (mock) => {
  beforeEach(() => mock.reset());

  describe.each(transports)("over $name", ({ options }) => {
    const client = connect(mock.url, options);

    test.each(operationCalls.filter(({ operation }) => operation !== "scaleDeployment"))(
      "$operation resolves to an answer of the contract",
      async ({ operation, call }) => {
        const example = answerExample(operation);
        expect(example).toBeTypeOf("object");
        const { data, httpStatus } = await call(client).withResponse();
        expect(httpStatus).toBe(200);
        expect(problemsOf(operation, data)).toBeNull();
        if (mock.answersExamples) expect(data).toEqual(example);
      },
    );

    test.each([2, 0])("scaleDeployment to %i resolves to nothing", async (replicaCount) => {
      const { data, httpStatus } = await client.deployments.scale("prod", replicaCount).withResponse();
      expect(httpStatus).toBe(200);
      expect(data).toBeUndefined();
    });

    describe.each(operationCalls)("$operation", ({ operation, call }) => {
      test.each(errorStatuses)("an answer of %i is a StatusError with %s", async (httpStatus, code) => {
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

test("an answer outside the contract would be seen", () => {
  expect(problemsOf("rerankDocuments", { object: "list", model: "m", data: [{}] })).not.toBeNull();
});
