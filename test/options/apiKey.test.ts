import { inspect } from "node:util";
import { describe, expect, test, vi } from "vitest";
import { createClient } from "../../src/index.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf, operationCalls } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();

const unusable: readonly (readonly [what: string, key: unknown])[] = [
  ["a space", "secret-part secret"],
  ["a space at its end", "secret-part "],
  ["a line break", "secret-part\n"],
  ["a header of its own", "secret-part\r\nx-evil: 1"],
  ["a NUL", "secret-part\0"],
  ["a letter outside ASCII", "secret-part-é"],
  ["8193 characters", "secret-part".padEnd(8193, "x")],
];

test.each([
  [
    "every character a key can have",
    Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).join(""),
  ],
  ["8192 characters", "k".repeat(8192)],
])("a key of %s is sent unchanged", async (_what, apiKey) => {
  await connect(server.url, { apiKey }).deployments.scale("prod", 1);
  expect(server.only.headers.authorization).toBe(`Bearer ${apiKey}`);
});

test.each(operationCalls)("$operation asks an apiKey function once for each call", async ({ call }) => {
  let asked = 0;
  const sync = connect(server.url, { apiKey: () => `key-${++asked}` });
  const later = connect(server.url, { apiKey: async () => `key-${++asked}` });
  for (const client of [sync, sync, later]) await call(client);
  const keys = server.requests.map(({ headers }) => headers.authorization);
  expect(keys).toEqual(["Bearer key-1", "Bearer key-2", "Bearer key-3"]);
});

const cause = new Error("the vault is closed");
const closed = () => {
  throw cause;
};
test.each([
  ["throws", closed],
  ["rejects", async () => closed()],
])("an apiKey function that %s is the cause, and nothing is sent", async (_what, apiKey) => {
  const client = connect(server.url, { apiKey });
  const error = await failureOf(() => client.deployments.scale("prod", 1));
  expect(error).toMatchObject({ code: "UNAUTHENTICATED", executed: "no", codeSource: "client" });
  expect(error.cause).toBe(cause);
  expect(error.message).toBe("[UNAUTHENTICATED] The apiKey function failed: the vault is closed.");
  expect(server.requests).toEqual([]);
});

test("the message of an apiKey function that fails does not show the key that it gave before", async () => {
  const first = "vault-key-number-one";
  const apiKey = (): string => {
    if (server.requests.length > 0) throw new Error(`${first} has expired`);
    return first;
  };
  server.reply({ status: 401, json: {} });
  const client = connect(server.url, { apiKey, maxRetries: 1 });
  const error = await failureOf(() => client.deployments.scale("prod", 1));
  expect(error.text).toMatch(/^The apiKey function failed: \S+ has expired\.$/);
  expect(error.text).not.toContain(first);
  expect(error.hint).toBe("");
  expect(server.requests).toHaveLength(1);
});

test.each([...unusable, ["nothing", undefined], ["an empty string", ""]] as const)(
  "an apiKey function whose key has %s is refused, and nothing is sent",
  async (_what, key) => {
    const client = connect(server.url, { apiKey: () => key as string });
    const error = await failureOf(() => client.deployments.scale("prod", 1));
    expect(error).toMatchObject({ executed: "no", codeSource: "client", operation: "scaleDeployment" });
    expect(inspect(error, { depth: null }) + JSON.stringify(error)).not.toContain("secret-part");
    expect(server.requests).toEqual([]);
  },
);

test("an apiKey function is not asked when the arguments are refused", async () => {
  const error = await failureOf(() => connect(server.url, { apiKey: closed }).deployments.scale("prod", -1));
  expect(error.cause).toBeUndefined();
});

const quoted = ['"', "'"].map((quote) => `${quote}${canaryKey}${quote}`);
const rejected = { status: 401, json: { message: `Incorrect API key: ${canaryKey}` } };
const keptQuotes = "The key begins and ends with quotes: leave them out.";

describe.each(quoted)("a key in quotes (%#)", (key) => {
  test("is sent as it is, and its rejection says so without the key", async () => {
    server.reply(rejected);
    const client = connect(server.url, { apiKey: key });
    const error = await failureOf(() => client.deployments.scale("prod", 1));
    expect(server.only.headers.authorization).toBe(`Bearer ${key}`);
    expect(error).toMatchObject({ code: "UNAUTHENTICATED", hint: keptQuotes });
    expect(error.message).toContain("Incorrect API key: [redacted]");
    expect(inspect(error, { depth: null }) + JSON.stringify(error)).not.toContain(canaryKey);
  });

  test("from the environment or a function is told of, too", async () => {
    server.reply(rejected);
    vi.stubEnv("TUNERANK_API_KEY", key);
    for (const apiKey of [undefined, () => key]) {
      const client = createClient({ baseUrl: server.url, apiKey, maxRetries: 0 });
      const error = await failureOf(() => client.rerank({ query: "q", documents: ["d"] }));
      expect(error.advice).toBe(keptQuotes);
    }
    vi.unstubAllEnvs();
  });

  test.each([
    [403, /^The key lacks a permission/],
    [407, /^The proxy needs its own user name/],
    [404, /^Check the id/],
  ])("is not told of where the status is %i", async (status, hint) => {
    server.reply({ status, text: "" });
    const error = await failureOf(() => connect(server.url, { apiKey: key }).deployments.scale("prod", 1));
    expect(error.hint).toMatch(hint);
  });
});

test.each(['"', '"k', "k'", "\"k'"])("a key of %j is not in quotes", async (apiKey) => {
  server.reply({ status: 401, text: "" });
  const error = await failureOf(() => connect(server.url, { apiKey }).deployments.scale("prod", 1));
  expect(error.advice).toBe("Check apiKey or TUNERANK_API_KEY: the service did not accept the key.");
});
