import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { createClient } from "../../src/index.js";
import { connect, failureOf, operationCalls, thrownBy, transports } from "../support/clients.js";
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

describe("a key with", () => {
  test.each(unusable)("%s is refused, and the error does not repeat it", (_what, apiKey) => {
    const error = thrownBy(() =>
      createClient({ baseUrl: "https://api.example.com", apiKey: apiKey as string }),
    );
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
    expect(error.message).toContain("apiKey");
    expect(inspect(error, { depth: null }) + JSON.stringify(error)).not.toContain("secret-part");
  });
});

test.each([
  ["empty", ""],
  ["null", null],
  ["a number", 7],
  ["an object", {}],
])("a key that is %s is refused", (_what, apiKey) => {
  const error = thrownBy(() =>
    createClient({ baseUrl: "https://api.example.com", apiKey: apiKey as string }),
  );
  expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
});

describe.each(transports)("over $name", ({ options }) => {
  test.each([
    [
      "every character a key can have",
      Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).join(""),
    ],
    ["8192 characters", "k".repeat(8192)],
  ])("a key of %s is sent unchanged", async (_what, apiKey) => {
    await connect(server.url, { ...options, apiKey }).deployments.scale("prod", 1);
    expect(server.only.headers.authorization).toBe(`Bearer ${apiKey}`);
  });

  test.each(operationCalls)("$operation asks an apiKey function once for each call", async ({ call }) => {
    let asked = 0;
    const sync = connect(server.url, { ...options, apiKey: () => `key-${++asked}` });
    await call(sync);
    await call(sync);
    const later = connect(server.url, { ...options, apiKey: async () => `key-${++asked}` });
    await call(later);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer key-1",
      "Bearer key-2",
      "Bearer key-3",
    ]);
    expect(asked).toBe(3);
  });

  test.each([
    [
      "throws",
      (cause: Error) => () => {
        throw cause;
      },
    ],
    ["rejects", (cause: Error) => () => Promise.reject(cause)],
  ])("an apiKey function that %s is the cause, and nothing is sent", async (_what, make) => {
    const cause = new Error("the vault is closed");
    const client = connect(server.url, { ...options, apiKey: make(cause) });
    const error = await failureOf(() => client.deployments.scale("prod", 1));
    expect(error).toMatchObject({ code: "UNAUTHENTICATED", executed: "no", codeSource: "client" });
    expect(error.cause).toBe(cause);
    expect(server.requests).toEqual([]);
  });

  test.each([...unusable, ["nothing", undefined], ["an empty string", ""]] as const)(
    "an apiKey function whose key has %s is refused, and nothing is sent",
    async (_what, key) => {
      const client = connect(server.url, { ...options, apiKey: () => key as string });
      const error = await failureOf(() => client.deployments.scale("prod", 1));
      expect(error).toMatchObject({ executed: "no", codeSource: "client", operation: "scaleDeployment" });
      expect(inspect(error, { depth: null }) + JSON.stringify(error)).not.toContain("secret-part");
      expect(server.requests).toEqual([]);
    },
  );

  test("an apiKey function is not asked when the arguments are refused", async () => {
    let asked = 0;
    const client = connect(server.url, { ...options, apiKey: () => `key-${++asked}` });
    await failureOf(() => client.deployments.scale("prod", -1));
    expect(asked).toBe(0);
  });
});
