import { inspect } from "node:util";
import { describe, expect, test, vi } from "vitest";
import { type ClientOptions, createClient } from "../../src/index.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf, operationCalls, thrownBy, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();

describe.each(transports)("over $name", ({ name, options }) => {
  test("withOptions changes what it names and keeps the rest", async () => {
    const client = connect(server.url, { ...options, headers: { "x-team": "search" }, userAgent: "app/1" });
    const other = client.withOptions({ apiKey: "other-key", accountId: "other" });
    await other.deployments.scale("prod", 1);
    await client.deployments.scale("prod", 1);
    const seen = server.requests.map(({ url, headers }) => [url, headers.authorization, headers["x-team"]]);
    expect(seen).toEqual([
      ["/v1/accounts/other/deployments/prod:scale", "Bearer other-key", "search"],
      ["/v1/accounts/acme/deployments/prod:scale", `Bearer ${canaryKey}`, "search"],
    ]);
    expect(server.requests[0]?.headers["user-agent"]).toMatch(/ app\/1$/);
  });

  test("withOptions keeps an option that is given as undefined", async () => {
    const client = connect(server.url, options).withOptions({ accountId: undefined, apiKey: undefined });
    await client.deployments.scale("prod", 1);
    expect(server.only.headers.authorization).toBe(`Bearer ${canaryKey}`);
  });

  test("withOptions sends through the same transport", async () => {
    server.reply({ text: "" });
    const client = connect(server.url, options).withOptions({ timeoutMs: 5_000 });
    const error = await failureOf(() => client.deployments.scale("prod", 1));
    expect(error.httpStatus).toBe(200);
    // Only fetch adds this header.
    expect("sec-fetch-mode" in server.only.headers).toBe(name === "fetch");
  });

  test.each([
    ["fetch", { fetch: globalThis.fetch }],
    ["maxConnections", { maxConnections: 1 }],
  ])("withOptions cannot change %s: the connections are shared", (option, changes) => {
    const error = thrownBy(() => connect(server.url, options).withOptions(changes as object));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
    expect(error.message).toContain(option);
  });

  test("withOptions checks what it is given", () => {
    const error = thrownBy(() => connect(server.url, options).withOptions({ timeoutMs: 0 }));
    expect(error).toMatchObject({ code: "OUT_OF_RANGE", executed: "no" });
  });

  test.each(operationCalls)("$operation ignores what others added to Object.prototype", async ({ call }) => {
    const elsewhere = {
      baseUrl: "http://127.0.0.1:1",
      accountId: "evil",
      rerankModel: "evil",
      timeoutMs: -1,
    };
    const client = connect(server.url, options);
    const prototype = Object.prototype as unknown as Record<string, unknown>;
    try {
      Object.assign(prototype, elsewhere, {
        model: "evil",
        name: "evil",
        top_n: "evil",
        pathSerializer: "evil",
      });
      await call(client);
    } finally {
      for (const key of [...Object.keys(elsewhere), "model", "name", "top_n", "pathSerializer"]) {
        delete prototype[key];
      }
    }
    expect(server.only.url).not.toContain("evil");
    expect(server.only.body.toString()).not.toContain("evil");
  });
});

test.each([
  ["timeoutMs 0", { timeoutMs: 0 }, "OUT_OF_RANGE"],
  ["timeoutMs as a string", { timeoutMs: "5" }, "INVALID_ARGUMENT"],
  ["connectTimeoutMs 0", { connectTimeoutMs: 0 }, "OUT_OF_RANGE"],
  ["maxConnections 0", { maxConnections: 0 }, "OUT_OF_RANGE"],
  ["a fractional maxConnections", { maxConnections: 1.5 }, "INVALID_ARGUMENT"],
  ["maxRetries -1", { maxRetries: -1 }, "OUT_OF_RANGE"],
  ["maxRetries 20", { maxRetries: 20 }, "OUT_OF_RANGE"],
  ["a fetch that is no function", { fetch: "fetch" }, "INVALID_ARGUMENT"],
  ["a rerankModel that is no string", { rerankModel: 7 }, "INVALID_ARGUMENT"],
  ["an account with a slash", { accountId: "accounts/acme" }, "INVALID_ARGUMENT"],
  ["options that are null", null, "INVALID_ARGUMENT"],
  ["options that are a string", "https://api.example.com", "INVALID_ARGUMENT"],
])("createClient refuses %s", (_what, options, code) => {
  const complete =
    typeof options === "object" && options !== null
      ? { baseUrl: "https://api.example.com", apiKey: canaryKey, ...options }
      : options;
  const error = thrownBy(() => createClient(complete as ClientOptions));
  expect(error).toMatchObject({ code, executed: "no", codeSource: "client" });
});

test.each([
  ["with an account", { accountId: "acme" }, ', accountId: "acme"'],
  ["without one", { accountId: undefined }, ""],
])("a client %s shows where it calls, and never its key", (_what, options, account) => {
  vi.stubEnv("TUNERANK_ACCOUNT_ID", undefined);
  try {
    const apiKey = canaryKey;
    const client = createClient({ baseUrl: "https://api.example.com/v2/", apiKey, ...options });
    expect(inspect(client)).toBe(`Client { baseUrl: "https://api.example.com/v2"${account} }`);
    expect(inspect({ client })).toContain("https://api.example.com/v2");
    const everything = inspect(client, { showHidden: true, depth: 9, customInspect: false });
    expect(everything + JSON.stringify(client)).not.toContain(canaryKey);
    const other = client.withOptions({ accountId: "other" });
    expect(inspect(other)).toBe('Client { baseUrl: "https://api.example.com/v2", accountId: "other" }');
  } finally {
    vi.unstubAllEnvs();
  }
});

test.each(["no", 0, {}])("idempotent: %j is refused, not taken for true", async (idempotent) => {
  const call = () =>
    connect(server.url).reinforcementFineTuningJobs.resume("job-1", { idempotent: idempotent as never });
  expect(await failureOf(call)).toMatchObject({ code: "INVALID_ARGUMENT", argument: "idempotent" });
  expect(server.requests).toHaveLength(0);
});
