import { describe, expect, test } from "vitest";
import { ofOperation } from "../../src/errors/statusError.js";
import { isStatusError, StatusError } from "../../src/index.js";
import { connect, failureOf, operationCalls, thrownBy } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { withHint } from "../support/withHint.js";

const server = useRecordingServer();

async function secondCopy(): Promise<{
  StatusError: typeof StatusError;
  isStatusError: typeof isStatusError;
}> {
  // A query makes it another module: what two versions of the package in one program are.
  const specifier = "../../src/errors/statusError.js?copy";
  return await import(specifier);
}

test.each(operationCalls)(
  "of $operation tells all that the response said",
  async ({ operation, method, path, call }) => {
    const body = { code: "RESOURCE_EXHAUSTED", message: "Quota used up.", limit: 5 };
    const headers = { "retry-after": "7", "x-request-id": "req-9" };
    server.reply({ status: 429, json: body, headers });
    const error = await failureOf(() => call(connect(server.url)));
    expect(error).toBeInstanceOf(StatusError);
    expect(error).toBeInstanceOf(Error);
    expect(error.name).toBe("StatusError");
    expect(error.message).toBe(withHint("[RESOURCE_EXHAUSTED] Quota used up.", error));
    expect({ ...error }).toEqual({
      code: "RESOURCE_EXHAUSTED",
      httpStatus: 429,
      inferred: false,
      codeSource: "body",
      executed: "no",
      executedBecause: "refused",
      notRetried: "retries-used-up",
      operation,
      method,
      path,
      host: new URL(server.url).host,
      requestId: "req-9",
      retryAfterMs: 7_000,
      body,
      hint: expect.stringMatching(/^[A-Z].*\.$/),
      attempts: [
        {
          number: 1,
          durationMs: expect.any(Number),
          httpStatus: 429,
          requestId: "req-9",
          code: "RESOURCE_EXHAUSTED",
        },
      ],
    });
    expect(error).not.toHaveProperty("cause");
  },
);

test("keeps the parts of its message apart, and lists none of them twice", async () => {
  server.reply({
    status: 429,
    json: { code: "RESOURCE_EXHAUSTED", message: "Used up: a, b" },
    headers: { "retry-after": "7" },
  });
  const error = await failureOf(() => connect(server.url).deployments.scale("prod", 1));
  expect(error.text).toBe("Used up: a, b.");
  expect(error.advice).toBe("Wait, or lower the rate or the size of your requests.");
  expect(error.reason).toBe("The service asks to wait 7 s. The call was not retried: maxRetries is 0.");
  expect(error.hint).toBe(`${error.advice} ${error.reason}`);
  expect(error.message).toBe(`[RESOURCE_EXHAUSTED] ${error.text} ${error.hint}`);
  expect(Object.keys(error)).not.toEqual(expect.arrayContaining(["text"]));
  expect(JSON.parse(JSON.stringify(error))).not.toHaveProperty("advice");
});

test("becomes JSON with every field, without stack and cause", async () => {
  server.reply((_request, response) => {
    response.destroy();
    return undefined;
  });
  const error = await failureOf(() => connect(server.url).deployments.scale("prod", 1));
  expect(error.cause).toBeInstanceOf(Error);
  const json = JSON.parse(JSON.stringify(error));
  expect(json).toMatchObject({
    name: "StatusError",
    message: error.message,
    code: "UNAVAILABLE",
    executed: "unknown",
    inferred: true,
    codeSource: "transport",
    operation: "scaleDeployment",
    executedBecause: "no-answer",
    notRetried: "retries-used-up",
    method: "PATCH",
    path: "/v1/accounts/acme/deployments/prod:scale",
    host: new URL(server.url).host,
    hint: error.hint,
    attempts: [{ number: 1, code: "UNAVAILABLE" }],
  });
  expect(json).not.toHaveProperty("stack");
  expect(JSON.stringify(error)).not.toContain('"cause"');
});

test.each([
  ["resumeReinforcementFineTuningJob", "The job may have been resumed"],
  ["uploadDatasetFile", "The file may have been stored"],
])("of %s whose outcome is unknown hints at checking before another call", async (operation, hint) => {
  server.reply({ status: 503, text: "" });
  const { call } = operationCalls.find((one) => one.operation === operation) ?? {};
  const error = await failureOf(() => call?.(connect(server.url)) as Promise<unknown>);
  expect(error.executed).toBe("unknown");
  expect(error.hint).toContain(hint);
  expect(error.hint).toContain("with the service's other operations before you");
});

test("keeps the request id of each attempt", async () => {
  let sent = 0;
  server.reply(() => {
    sent += 1;
    const headers = { "retry-after-ms": "1", "x-request-id": `r-${sent}` };
    return { status: 503, json: { code: "UNAVAILABLE" }, headers };
  });
  const client = connect(server.url, { maxRetries: 2 });
  const error = await failureOf(() => client.deployments.scale("prod", 1));
  expect(error.attempts.map(({ requestId }) => requestId)).toEqual(["r-1", "r-2", "r-3"]);
  expect(error.requestId).toBe("r-3");
  expect(JSON.parse(JSON.stringify(error)).attempts[0].requestId).toBe("r-1");
});

test("names the host and the path with the ids as they were sent", async () => {
  server.reply({ status: 404, json: { code: "NOT_FOUND" } });
  const client = connect(`${server.url}/base/`);
  const error = await failureOf(() => client.deployments.scale("a b", 1));
  const target = {
    operation: "scaleDeployment",
    method: "PATCH",
    path: "/base/v1/accounts/acme/deployments/a%20b:scale",
    host: new URL(server.url).host,
  };
  expect(error).toMatchObject(target);
  expect(error.toJSON()).toMatchObject(target);
  expect(server.only).toMatchObject({ url: target.path, headers: { host: target.host } });
});

const error = thrownBy(() => connect("http://api.example.com"));

test("a StatusError has no property for what there was not", () => {
  expect(Object.keys(error).sort()).toEqual([
    "argument",
    "attempts",
    "code",
    "codeSource",
    "executed",
    "executedBecause",
    "hint",
    "inferred",
  ]);
});

test.each([
  ["no", undefined, "nothing-sent"],
  ["no", 429, "refused"],
  ["unknown", undefined, "no-answer"],
  ["unknown", 500, "unclear-answer"],
  ["yes", 200, "success-began"],
] as const)(
  "an error of your own with executed %s and status %s says %s",
  (executed, httpStatus, because) => {
    const details = { code: "UNAVAILABLE", codeSource: "client", executed } as const;
    const own = new StatusError("x", httpStatus === undefined ? details : { ...details, httpStatus });
    expect(own.executedBecause).toBe(because);
  },
);

test("a refused argument's error keeps its stack and its cause when it learns its operation", async () => {
  const cause = new Error("in a getter");
  const query = {
    get query(): string {
      throw cause;
    },
    documents: ["d"],
  };
  const ofGetter = await failureOf(() => connect(server.url).rerank(query));
  expect(ofGetter).toMatchObject({ code: "INVALID_ARGUMENT", operation: "rerankDocuments", cause });
  const made = new StatusError("x", {
    code: "INVALID_ARGUMENT",
    codeSource: "client",
    executed: "no",
    cause,
  });
  const named = ofOperation(made, "scaleDeployment");
  expect(named).toMatchObject({ operation: "scaleDeployment", notRetried: "refused", cause });
  expect(named.stack).toBe(made.stack);
});

describe("isStatusError", () => {
  test("is true of a StatusError, and of its code alone when one is asked for", () => {
    expect(isStatusError(error)).toBe(true);
    expect(isStatusError(error, "INVALID_ARGUMENT")).toBe(true);
    expect(isStatusError(error, "NOT_FOUND")).toBe(false);
  });

  test.each([
    ["undefined", undefined],
    ["null", null],
    ["a string", "[NOT_FOUND] x"],
    ["another error", new Error("[NOT_FOUND] x")],
    ["an error with a code", Object.assign(new Error("x"), { code: "NOT_FOUND" })],
    ["an error with its name", Object.assign(new Error("x"), { name: "StatusError", code: "NOT_FOUND" })],
    ["its JSON", error.toJSON()],
  ])("is false of %s", (_what, value) => {
    expect(isStatusError(value)).toBe(false);
    expect(isStatusError(value, "NOT_FOUND")).toBe(false);
  });

  test("works across two copies of the package", async () => {
    const copy = await secondCopy();
    const details = { code: "NOT_FOUND", executed: "no", codeSource: "body" } as const;
    const foreign = new copy.StatusError("x", details);
    expect(copy.StatusError).not.toBe(StatusError);
    expect(foreign).toBeInstanceOf(StatusError);
    expect(isStatusError(foreign)).toBe(true);
    expect(isStatusError(foreign, "NOT_FOUND")).toBe(true);
    expect(isStatusError(foreign, "ABORTED")).toBe(false);
    expect(copy.isStatusError(new StatusError("x", details), "NOT_FOUND")).toBe(true);
  });
});

describe("instanceof", () => {
  const details = { code: "NOT_FOUND", executed: "no", codeSource: "body" } as const;
  class Mine extends StatusError {}

  test("tells subclasses apart, also of two copies of the package", async () => {
    const copy = await secondCopy();
    class Theirs extends copy.StatusError {}
    const mine = new Mine("x", details);
    expect(mine).toBeInstanceOf(Mine);
    expect(mine).toBeInstanceOf(StatusError);
    expect(mine).toBeInstanceOf(copy.StatusError);
    expect(mine).not.toBeInstanceOf(Theirs);
    expect(new StatusError("x", details)).not.toBeInstanceOf(Mine);
    expect(new copy.StatusError("x", details)).not.toBeInstanceOf(Mine);
  });

  test.each([undefined, null, "x", 1, new Error("x"), { code: "NOT_FOUND" }, () => {}])(
    "takes %s for no StatusError",
    (value) => {
      expect((value as unknown) instanceof StatusError).toBe(false);
      expect((value as unknown) instanceof Mine).toBe(false);
    },
  );
});
