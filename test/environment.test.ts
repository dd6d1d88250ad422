import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createClient } from "../src/index.js";
import { canaryKey } from "./support/canary.js";
import { failureOf, thrownBy, transports } from "./support/clients.js";
import { useRecordingServer } from "./support/recordingServer.js";

const server = useRecordingServer();

beforeEach(() => {
  vi.stubEnv("TUNERANK_BASE_URL", undefined);
  vi.stubEnv("TUNERANK_API_KEY", undefined);
  vi.stubEnv("TUNERANK_ACCOUNT_ID", undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

describe.each(transports)("over $name", ({ options }) => {
  test("environment variables stand in for absent options", async () => {
    vi.stubEnv("TUNERANK_BASE_URL", server.url);
    vi.stubEnv("TUNERANK_API_KEY", canaryKey);
    vi.stubEnv("TUNERANK_ACCOUNT_ID", "account-of-environment");
    await createClient(options).deployments.scale("prod", 1);
    expect(server.only.url).toBe("/v1/accounts/account-of-environment/deployments/prod:scale");
    expect(server.only.headers.authorization).toBe(`Bearer ${canaryKey}`);
  });

  test("options win over environment variables", async () => {
    vi.stubEnv("TUNERANK_BASE_URL", "http://127.0.0.1:1");
    vi.stubEnv("TUNERANK_API_KEY", canaryKey);
    vi.stubEnv("TUNERANK_ACCOUNT_ID", "account-of-environment");
    const client = createClient({ ...options, baseUrl: server.url, apiKey: "own-key", accountId: "own" });
    await client.deployments.scale("prod", 1);
    expect(server.only.url).toBe("/v1/accounts/own/deployments/prod:scale");
    expect(server.only.headers.authorization).toBe("Bearer own-key");
  });

  test("the account of a call wins over the client's", async () => {
    const client = createClient({ ...options, baseUrl: server.url, apiKey: canaryKey, accountId: "own" });
    await client.deployments.scale("prod", 1, { accountId: "other" });
    expect(server.only.url).toBe("/v1/accounts/other/deployments/prod:scale");
  });

  test("rerank needs no account", async () => {
    const client = createClient({ ...options, baseUrl: server.url, apiKey: canaryKey });
    await client.rerank({ query: "q", documents: ["d"] });
    expect(server.only.url).toBe("/inference/v1/rerank");
  });

  test.each([
    ["resume", (client: ReturnType<typeof createClient>) => client.reinforcementFineTuningJobs.resume("j")],
    ["scale", (client: ReturnType<typeof createClient>) => client.deployments.scale("prod", 1)],
    [
      "upload",
      (client: ReturnType<typeof createClient>) => client.datasets.upload("d", new File(["x"], "f")),
    ],
  ])("%s without an account is refused with the option and the variable to set", async (_name, call) => {
    const client = createClient({ ...options, baseUrl: server.url, apiKey: canaryKey });
    const error = await failureOf(() => call(client));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
    expect(error.message).toContain("accountId");
    expect(error.message).toContain("TUNERANK_ACCOUNT_ID");
    expect(server.requests).toEqual([]);
  });
});

test.each([
  ["baseUrl", "TUNERANK_BASE_URL", { apiKey: canaryKey }],
  ["apiKey", "TUNERANK_API_KEY", { baseUrl: "https://api.example.com" }],
])("a missing %s is an error that names it and %s", (option, variable, options) => {
  const error = thrownBy(() => createClient(options));
  expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
  expect(error.message).toContain(option);
  expect(error.message).toContain(variable);
});

test("an empty environment variable is as good as none", () => {
  vi.stubEnv("TUNERANK_BASE_URL", "");
  const error = thrownBy(() => createClient({ apiKey: canaryKey }));
  expect(error.message).toContain("TUNERANK_BASE_URL");
});

test("an empty option does not fall back to the environment", () => {
  vi.stubEnv("TUNERANK_API_KEY", canaryKey);
  const error = thrownBy(() => createClient({ baseUrl: "https://api.example.com", apiKey: "" }));
  expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
});
