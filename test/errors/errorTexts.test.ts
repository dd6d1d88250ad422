import { describe, expect, test } from "vitest";
import type { Client, ClientOptions, StatusError } from "../../src/index.js";
import { connect, failureOf, thrownBy } from "../support/clients.js";
import { type Reply, useRecordingServer } from "../support/recordingServer.js";
import { textOf } from "../support/withHint.js";

const server = useRecordingServer();

async function failure(reply: Reply): Promise<StatusError> {
  server.reply(reply);
  return await failureOf(() => connect(server.url).deployments.scale("prod", 1));
}

test.each([
  '{"__proto__":{"code":"ABORTED","message":"evil"}}',
  '{"constructor":{"prototype":{"code":"ABORTED"}}}',
])("inherited names are not read: %s", async (text) => {
  const error = await failure({ status: 404, text });
  expect(error).toMatchObject({ code: "NOT_FOUND", codeSource: "status" });
  expect(error.message).not.toContain("evil");
  expect(({} as { code?: string }).code).toBeUndefined();
});

test("what others added to Object.prototype is not read as the body's", async () => {
  try {
    for (const [name, value] of [
      ["code", "ABORTED"],
      ["detail", "evil"],
    ]) {
      Object.defineProperty(Object.prototype, name as string, {
        value,
        configurable: true,
        writable: true,
      });
    }
    const error = await failure({ status: 404, json: { request: 1 } });
    expect(error).toMatchObject({ code: "NOT_FOUND", codeSource: "status" });
    expect(error.message).not.toContain("evil");
  } finally {
    for (const name of ["code", "detail"]) Reflect.deleteProperty(Object.prototype, name);
  }
});

test("a body beyond 4 KiB is kept in part, and its code still read", async () => {
  const error = await failure({
    status: 409,
    json: { code: "ABORTED", message: "m".repeat(10_000), details: "d".repeat(10_000) },
  });
  expect(error).toMatchObject({ code: "ABORTED", codeSource: "body" });
  expect(error.body).toBeTypeOf("string");
  expect((error.body as string).length).toBeLessThanOrEqual(4096);
  expect(textOf(error).length).toBeLessThanOrEqual(4096 + "[ABORTED] .".length);
});

test("a body beyond 64 KiB is read no further, and the status decides", async () => {
  const error = await failure({
    status: 409,
    json: { details: "d".repeat(70_000), code: "ALREADY_EXISTS" },
  });
  expect(error).toMatchObject({ code: "ABORTED", codeSource: "status", inferred: true });
  expect((error.body as string).length).toBeLessThanOrEqual(4096);
});

const address = "https://api.example.com";
const bytes = new Uint8Array([1]);

const options: readonly (readonly [options: Record<string, unknown>, message: string])[] = [
  [{ headers: "x-a: 1" }, "[INVALID_ARGUMENT] headers must be an object."],
  [{ headers: { "x y": "1" } }, "[INVALID_ARGUMENT] headers has a name that HTTP does not allow."],
  [{ headers: { "X-A": "é" } }, '[INVALID_ARGUMENT] headers["x-a"] must be printable ASCII text.'],
  [{ headers: { Host: "h" } }, "[INVALID_ARGUMENT] headers may not set host: the client sets it."],
  [{ apiKey: "" }, "[INVALID_ARGUMENT] apiKey must be a string that is not empty."],
  [{ onAttempt: "log" }, "[INVALID_ARGUMENT] onAttempt must be a function."],
  [{ timeoutMs: "5" }, "[INVALID_ARGUMENT] timeoutMs must be a number of milliseconds."],
  [{ timeoutMs: 0 }, "[OUT_OF_RANGE] timeoutMs must be greater than 0, not 0."],
  [{ maxRetries: 0.5 }, "[INVALID_ARGUMENT] maxRetries must be a whole number, not 0.5."],
  [{ maxRetries: -1 }, "[OUT_OF_RANGE] maxRetries must be at least 0, not -1."],
];

test.each(options)("createClient refuses %o and says why", (given, message) => {
  expect(textOf(thrownBy(() => connect(address, given as ClientOptions)))).toBe(message);
});

test("plain http to another machine is refused with the reason", () => {
  expect(textOf(thrownBy(() => connect("http://api.example.com")))).toBe(
    "[INVALID_ARGUMENT] baseUrl is plain http to another machine: the key would go unencrypted.",
  );
});

const calls: readonly (readonly [
  what: string,
  call: (client: Client) => PromiseLike<unknown>,
  message: string,
])[] = [
  [
    "a full name that ends with a slash",
    (client) => client.deployments.scale("accounts/acme/", 1),
    'deploymentId contains "/": pass the id alone, not a full resource name.',
  ],
  [
    "a full name",
    (client) => client.deployments.scale("accounts/acme/deployments/prod", 1),
    'deploymentId contains "/": pass the id alone ("prod"), not a full resource name.',
  ],
  [
    "one object, as other clients of scale take it",
    (client) => client.deployments.scale({ id: "prod", replicas: 2 } as never, undefined as never),
    "deploymentId of scale(id, replicas) must be a string.",
  ],
  [
    "verifyBytes that is no boolean",
    (client) => client.datasets.upload("d", bytes, { name: "f", verifyBytes: 1 as unknown as boolean }),
    "verifyBytes must be true or false.",
  ],
  [
    "a name that is no string",
    (client) => client.datasets.upload("d", bytes, { name: 7 as unknown as string }),
    "name must be a string.",
  ],
  [
    "a name without a base name",
    (client) => client.datasets.upload("d", bytes, { name: "data/" }),
    "name must end with a file name.",
  ],
  [
    "a name with a control character",
    (client) => client.datasets.upload("d", bytes, { name: "a\nb" }),
    "name contains a control character.",
  ],
  [
    "a name with a lone surrogate",
    (client) => client.datasets.upload("d", bytes, { name: "a\ud83d" }),
    "name contains a lone surrogate.",
  ],
];

test.each(calls)("a call refuses %s and says why", async (_what, call, message) => {
  expect(textOf(await failureOf(() => call(connect(server.url))))).toBe(`[INVALID_ARGUMENT] ${message}`);
  expect(server.requests).toEqual([]);
});

describe("at the edge of what is refused, a call is made", () => {
  test.each<[what: string, call: (client: Client) => PromiseLike<unknown>]>([
    [
      "with a fraction of a millisecond more",
      (client) => client.deployments.scale("p", 1, { timeoutMs: 5000.5 }),
    ],
    ["with a letter next to the controls", (client) => client.deployments.scale("\u00a0 ~", 1)],
    [
      "with verifyBytes: false",
      (client) => client.datasets.upload("d", bytes, { name: "f", verifyBytes: false }),
    ],
  ])("%s", async (_what, call) => {
    await call(connect(server.url));
    expect(server.requests).toHaveLength(1);
  });
});

test("documents that are objects are refused with a message that names rerank.items", async () => {
  const documents = [{ text: "Paris." }] as never;
  const error = await failureOf(() => connect("https://a.example").rerank({ query: "q", documents }));
  expect(error.message).toBe(
    "[INVALID_ARGUMENT] documents[0] must be a string. Rank objects with rerank.items.",
  );
});
