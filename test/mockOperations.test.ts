import { describe, expect, inject, test } from "vitest";
import { connect, failureOf, operationCalls, transports } from "./support/clients.js";
import { answerExample } from "./support/contract.js";
import { errorStatuses, failureTable } from "./support/serviceTables.js";

const mockUrl = inject("mockUrl");

describe.each(transports)("the contract's mock over $name", ({ options }) => {
  const client = connect(mockUrl, options);

  test.each(operationCalls.filter(({ operation }) => operation !== "scaleDeployment"))(
    "$operation resolves to the contract's example",
    async ({ operation, call }) => {
      const example = answerExample(operation);
      expect(example).toBeTypeOf("object");
      const { data, httpStatus } = await call(client).withResponse();
      expect(httpStatus).toBe(200);
      expect(data).toEqual(example);
    },
  );

  test.each([2, 0])("scaleDeployment to %i resolves to nothing", async (replicaCount) => {
    const { data, httpStatus } = await client.deployments.scale("prod", replicaCount).withResponse();
    expect(httpStatus).toBe(200);
    expect(data).toBeUndefined();
  });

  describe.each(operationCalls)("$operation", ({ operation, call }) => {
    test.each(errorStatuses)("an answer of %i is a StatusError with %s", async (httpStatus, code) => {
      const error = await failureOf(() => call(client, { headers: { prefer: `code=${httpStatus}` } }));
      expect(error).toMatchObject({ code, httpStatus, operation, inferred: false, codeSource: "body" });
      expect(error.message.startsWith(`[${code}] `)).toBe(true);
    });

    test.each(failureTable)("the example %s of status %i keeps its code", async (code, httpStatus) => {
      const prefer = `code=${httpStatus}, example=${code}`;
      const error = await failureOf(() => call(client, { headers: { prefer } }));
      expect(error).toMatchObject({ code, httpStatus, operation, inferred: false, codeSource: "body" });
      expect(error.body).toMatchObject({ code });
    });
  });
});
