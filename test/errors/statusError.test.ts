import { inspect } from "node:util";
import { Agent } from "undici";
import { afterAll, describe, expect, test } from "vitest";
import { rerankAll } from "../../src/bulk/index.js";
import { ofOperation } from "../../src/errors/statusError.js";
import {
  type AttemptEvent,
  type Client,
  isStatusError,
  type LogRecord,
  StatusError,
} from "../../src/index.js";
import { canaryKey, leaksOf } from "../support/canary.js";
import { connect, failureOf, operationCalls, thrownBy, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { reset } from "../support/responses.js";
import { until } from "../support/turns.js";
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
    const said = { code: "RESOURCE_EXHAUSTED", httpStatus: 429, requestId: "req-9" };
    expect({ ...error }).toEqual({
      ...{ ...said, operation, method, path, host: new URL(server.url).host, body, retryAfterMs: 7_000 },
      ...{ inferred: false, codeSource: "body", executed: "no", executedBecause: "refused" },
      ...{ notRetried: "retries-used-up", hint: expect.stringMatching(/^[A-Z].*\.$/) },
      attempts: [{ ...said, number: 1, durationMs: expect.any(Number) }],
    });
    expect(error).not.toHaveProperty("cause");
  },
);

test("keeps the parts of its message apart, and lists none of them twice", async () => {
  const json = { code: "RESOURCE_EXHAUSTED", message: "Used up: a, b" };
  server.reply({ status: 429, json, headers: { "retry-after": "7" } });
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
  server.reply(reset);
  const error = await failureOf(() => connect(server.url).deployments.scale("prod", 1));
  expect(error.cause).toBeInstanceOf(Error);
  const json = JSON.parse(JSON.stringify(error));
  const { message, hint } = error;
  expect(json).toMatchObject({
    ...{ name: "StatusError", message, hint, code: "UNAVAILABLE", inferred: true, codeSource: "transport" },
    ...{ executed: "unknown", executedBecause: "no-answer", notRetried: "retries-used-up" },
    ...{ operation: "scaleDeployment", method: "PATCH", host: new URL(server.url).host },
    path: "/v1/accounts/acme/deployments/prod:scale",
    attempts: [{ number: 1, code: "UNAVAILABLE" }],
  });
  expect(json).not.toHaveProperty("stack");
  expect(JSON.stringify(error)).not.toContain('"cause"');
});

const error = thrownBy(() => connect("http://api.example.com"));

test("a StatusError has no property for what there was not", () => {
  const there = "argument attempts code codeSource executed executedBecause hint inferred";
  expect(Object.keys(error).sort()).toEqual(there.split(" "));
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
  const details = { code: "INVALID_ARGUMENT", codeSource: "client", executed: "no", cause } as const;
  const made = new StatusError("x", details);
  const named = ofOperation(made, "scaleDeployment");
  expect(named).toMatchObject({ operation: "scaleDeployment", notRetried: "refused", cause });
  expect(named.stack).toBe(made.stack);
});

const details = { code: "NOT_FOUND", executed: "no", codeSource: "body" } as const;
class Mine extends StatusError {}

describe("isStatusError", () => {
  test("is true of a StatusError, and of its code alone when one is asked for", () => {
    expect(isStatusError(error)).toBe(true);
    expect(isStatusError(error, "INVALID_ARGUMENT")).toBe(true);
    expect(isStatusError(error, "NOT_FOUND")).toBe(false);
  });

  test.each([
    ...[undefined, null, 1, "[NOT_FOUND] x", () => {}, new Error("[NOT_FOUND] x"), error.toJSON()],
    ...[{ code: "NOT_FOUND" }, { name: "StatusError", code: "NOT_FOUND" }].map((fields) =>
      Object.assign(new Error("x"), fields),
    ),
  ])("is false of %s, as instanceof is", (value) => {
    expect([isStatusError(value), isStatusError(value, "NOT_FOUND")]).toEqual([false, false]);
    expect([value instanceof StatusError, value instanceof Mine]).toEqual([false, false]);
  });

  test("works across two copies of the package", async () => {
    const copy = await secondCopy();
    const foreign = new copy.StatusError("x", details);
    expect(copy.StatusError).not.toBe(StatusError);
    expect(foreign).toBeInstanceOf(StatusError);
    expect(isStatusError(foreign)).toBe(true);
    expect(isStatusError(foreign, "NOT_FOUND")).toBe(true);
    expect(isStatusError(foreign, "ABORTED")).toBe(false);
    expect(copy.isStatusError(new StatusError("x", details), "NOT_FOUND")).toBe(true);
  });
});

test("instanceof tells subclasses apart, also of two copies of the package", async () => {
  const copy = await secondCopy();
  class Theirs extends copy.StatusError {}
  const mine = new Mine("x", details);
  for (const each of [Mine, StatusError, copy.StatusError]) expect(mine).toBeInstanceOf(each);
  expect(mine).not.toBeInstanceOf(Theirs);
  expect(new StatusError("x", details)).not.toBeInstanceOf(Mine);
  expect(new copy.StatusError("x", details)).not.toBeInstanceOf(Mine);
});

test("a StatusError is an instance before its constructor has ended, as code compiled to ES5 asks", () => {
  expect(Object.create(StatusError.prototype) instanceof StatusError).toBe(true);
});

describe("a stack names the line of the caller", () => {
  const wrong: readonly [string, (client: Client) => Promise<unknown>][] = [
    ["rerank", (client) => client.rerank({ query: "q", documents: [] })],
    ["an option", (client) => client.rerank(rerank, { timeoutMs: -1 })],
    ["an unknown option", (client) => client.rerank(rerank, { timeout: 1 } as never)],
    ["a header", (client) => client.rerank(rerank, { headers: { host: "a" } })],
    ["resume", (client) => client.reinforcementFineTuningJobs.resume("a/b")],
    ["scale", (client) => client.deployments.scale("prod", -1)],
    ["upload", (client) => client.datasets.upload("reviews", "/nowhere/train.jsonl")],
    ["request", (client) => client.request({ method: "GET", path: "x" })],
    ["rerank.items", (client) => client.rerank.items("q", ["d"], { text: 1 } as never)],
  ];
  test.each(wrong)("of a wrong argument: %s", async (_what, call) => {
    const client = connect(server.url);
    const { stackTraceLimit } = Error;
    const callsHere = async (): Promise<unknown> => await call(client);
    expect((await failureOf(callsHere)).stack).toContain("callsHere");
    expect(Error.stackTraceLimit).toBe(stackTraceLimit);
  });

  test("of a call that fails, also by withResponse()", async () => {
    server.reply({ status: 404 });
    const client = connect(server.url);
    const callsHere = async (): Promise<unknown> => await client.rerank(rerank);
    const asksHere = async (): Promise<unknown> => await client.rerank(rerank).withResponse();
    expect((await failureOf(callsHere)).stack).toContain("callsHere");
    expect((await failureOf(asksHere)).stack).toContain("asksHere");
  });
});

const agent = new Agent();
afterAll(() => agent.destroy());
const ways = [...transports, { name: "a dispatcher", options: { dispatcher: agent as never } }];
const rerank = { query: "q", documents: ["d"] };

const sent = {
  "X-RateLimit-Remaining": "0",
  "CF-Ray": "ray-1",
  "WWW-Authenticate": 'Bearer realm="x"',
  "X-Echo": `Bearer ${canaryKey}`,
};
const shown = {
  "x-ratelimit-remaining": "0",
  "cf-ray": "ray-1",
  "www-authenticate": 'Bearer realm="x"',
  "x-echo": "Bearer [redacted]",
};

describe.each(ways)("the headers of a response over $name", ({ options }) => {
  test("an error has the response's headers", async () => {
    const events: AttemptEvent[] = [];
    const onAttempt = (event: AttemptEvent) => void events.push(event);
    server.reply({ status: 403, json: { message: "No." }, headers: sent });
    const error = await failureOf(() => connect(server.url, { ...options, onAttempt }).rerank(rerank));
    expect(error.headers).toMatchObject(shown);
    expect(error.attempts[0]?.headers).toMatchObject(shown);
    expect(events[0]?.headers).toMatchObject(shown);
    expect(leaksOf([error, events, error.headers])).toEqual([]);
  });

  test("nothing lists them: no message, no JSON, no console, no log", async () => {
    const records: LogRecord[] = [];
    const lines: string[] = [];
    const logger = (_level: string, record: LogRecord) => void records.push(record);
    const line = (text: string) => void lines.push(text);
    server.reply({ status: 403, json: { message: "No." }, headers: sent });
    const logged = [logger, { error: line, warn: line, info: line, debug: line }];
    let error: unknown;
    for (const each of logged) {
      const client = connect(server.url, { ...options, logger: each, logLevel: "debug", logBodies: true });
      error = await failureOf(() => client.rerank(rerank));
    }
    await until(() => records.length + lines.length === 2);
    const { attempts, message } = error as Awaited<ReturnType<typeof failureOf>>;
    expect(attempts[0]?.headers).toMatchObject(shown);
    const listed = [
      message,
      inspect([error, attempts]),
      JSON.stringify([error, attempts, records]),
      ...lines,
    ];
    expect(listed.join("\n")).not.toContain("ray-1");
    expect(records[0]).not.toHaveProperty("headers");
  });

  test("an attempt that succeeded has them without the key", async () => {
    const events: AttemptEvent[] = [];
    const onAttempt = (event: AttemptEvent) => void events.push(event);
    const client = connect(server.url, { ...options, onAttempt });
    server.reply({ json: { data: [] }, headers: sent });
    await client.rerank(rerank);
    expect(events[0]?.headers).toMatchObject(shown);
    server.reply({ json: { data: [] }, headers: { "CF-Ray": "ray-1" } });
    const { attempts } = await client.rerank(rerank).withResponse();
    expect(attempts[0]?.headers).toMatchObject({ "cf-ray": "ray-1" });
  });

  test("they and the request id are those of a response that was lost, too", async () => {
    server.reply((_request, response) => {
      response.writeHead(200, { ...sent, "x-request-id": "req-3", "content-length": 100 });
      response.write("{", () => void response.destroy());
      return undefined;
    });
    const error = await failureOf(() => connect(server.url, options).rerank(rerank));
    expect(error).toMatchObject({ code: "INTERNAL", executed: "yes", httpStatus: 200, requestId: "req-3" });
    expect(error.headers).toMatchObject(shown);
    expect(error.message).toContain("Report it to whoever runs the service, with the request id req-3.");
  });
});

test("the events and errors of a bulk run have the headers of their responses", async () => {
  server.reply({ status: 400, json: { message: "No." }, headers: sent });
  const heard: unknown[] = [];
  const onAttempt = ({ headers }: AttemptEvent) => void heard.push(headers);
  for await (const { error } of rerankAll(connect(server.url), [{ id: "a", ...rerank }], { onAttempt })) {
    expect(error?.headers).toMatchObject(shown);
  }
  expect(heard).toMatchObject([shown]);
});
