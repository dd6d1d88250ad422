import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type ClientOptions, createClient } from "../../src/index.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf, operationCalls, thrownBy } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { textOf } from "../support/withHint.js";

const server = useRecordingServer();

describe("the environment", () => {
  beforeEach(() => {
    stub({ BASE_URL: undefined, API_KEY: undefined, ACCOUNT_ID: undefined, RERANK_MODEL: undefined });
  });
  afterEach(() => void vi.unstubAllEnvs());

  function stub(values: Readonly<Record<string, string | undefined>>): void {
    for (const [name, value] of Object.entries(values)) vi.stubEnv(`TUNERANK_${name}`, value);
  }

  test("variables stand in for absent options, which win over them, and the account of a call over the client's", async () => {
    stub({ BASE_URL: server.url, API_KEY: canaryKey, ACCOUNT_ID: "account-of-environment" });
    await createClient().deployments.scale("prod", 1);
    stub({ BASE_URL: "http://127.0.0.1:1" });
    const client = createClient({ baseUrl: server.url, apiKey: "own-key", accountId: "own" });
    await client.deployments.scale("prod", 1);
    await client.deployments.scale("prod", 1, { accountId: "other" });
    expect(server.requests.map(({ url, headers }) => [url.split("/")[3], headers.authorization])).toEqual([
      ["account-of-environment", `Bearer ${canaryKey}`],
      ["own", "Bearer own-key"],
      ["other", "Bearer own-key"],
    ]);
  });

  const ofAccount = operationCalls.filter(({ path }) => path.includes("/acme/"));
  test.each(ofAccount)(
    "$operation without an account is refused with the option and the variable",
    async ({ call }) => {
      const client = createClient({ baseUrl: server.url, apiKey: canaryKey });
      const error = await failureOf(() => call(client));
      expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
      expect(error.message).toMatch(/accountId.*TUNERANK_ACCOUNT_ID/);
      expect(server.requests).toEqual([]);
    },
  );

  const complete = { baseUrl: "https://api.example.com", apiKey: canaryKey };
  const rerank = { query: "q", documents: ["d"] };

  test.each([
    ["baseUrl", "TUNERANK_BASE_URL"],
    ["apiKey", "TUNERANK_API_KEY"],
  ])("without %s the first call rejects with an error that names it and %s", async (option, variable) => {
    const client = createClient({ ...complete, [option]: undefined });
    const error = await failureOf(() => client.rerank(rerank));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no", operation: "rerankDocuments" });
    expect(error.message).toContain(`${option} is missing.`);
    expect(error.message).toContain(variable);
  });

  test("everything that is missing is named at once", async () => {
    const client = createClient();
    const error = await failureOf(() => client.deployments.scale("prod", 1));
    expect([textOf(error), error.hint]).toEqual([
      "[INVALID_ARGUMENT] baseUrl, apiKey and accountId are missing.",
      "Set TUNERANK_BASE_URL, TUNERANK_API_KEY and TUNERANK_ACCOUNT_ID, or pass them to createClient.",
    ]);
    const ofItems = await failureOf(() => client.rerank.items("q", ["d"], { text: String }));
    expect(ofItems.message).toContain("baseUrl and apiKey are missing.");
  });

  test("what is set after the client was created is read at the first call, and kept", async () => {
    const client = createClient({ baseUrl: undefined });
    await failureOf(() => client.rerank(rerank));
    stub({ BASE_URL: server.url, API_KEY: canaryKey });
    await client.rerank(rerank);
    stub({ BASE_URL: "http://127.0.0.1:1", API_KEY: "other-key", ACCOUNT_ID: "late" });
    await client.deployments.scale("prod", 1);
    expect(server.requests.map(({ url }) => url)).toEqual([
      "/inference/v1/rerank",
      "/v1/accounts/late/deployments/prod:scale",
    ]);
    expect(server.requests.at(-1)?.headers.authorization).toBe(`Bearer ${canaryKey}`);
  });

  test("TUNERANK_RERANK_MODEL is the model of a rerank that names none", async () => {
    vi.stubEnv("TUNERANK_RERANK_MODEL", "accounts/acme/models/of-environment");
    // A client made with withOptions needs no values of the first.
    const client = createClient().withOptions({ baseUrl: server.url, apiKey: canaryKey });
    await client.rerank(rerank);
    await client.withOptions({ rerankModel: "accounts/acme/models/own" }).rerank(rerank);
    const models = server.requests.map(({ body }) => JSON.parse(body.toString()).model);
    expect(models).toEqual(["accounts/acme/models/of-environment", "accounts/acme/models/own"]);
  });

  test("an empty variable is none: no model is sent, and no base URL is known", async () => {
    vi.stubEnv("TUNERANK_RERANK_MODEL", "");
    await connect(server.url).rerank(rerank);
    expect(JSON.parse(`${server.only.body}`)).toEqual(rerank);
    vi.stubEnv("TUNERANK_BASE_URL", "");
    const error = await failureOf(() => createClient({ apiKey: canaryKey }).rerank(rerank));
    expect(error.message).toContain("TUNERANK_BASE_URL");
  });

  // How a value comes to have them: files, copies and editors. "x" stands for the value.
  const odd: readonly (readonly [where: string, ...values: string[]])[] = [
    ["begins with a byte order mark", "\ufeffx"],
    ["begins with a line break", "\nx"],
    ["begins with a whitespace character", " x", "\u00a0x"],
    ["ends with a line break", "x\n", "x\r\n", "x with blanks inside\n"],
    ["ends with a whitespace character", "x ", "x\t"],
    ["has a line break inside", "x\nx"],
    ["has a control character inside", "x\x01x"],
  ];
  const odder: typeof odd = [...odd, ["has a whitespace character inside", "x x"]];
  const named = [
    ["baseUrl", "TUNERANK_BASE_URL", "https://api.example.com", odder],
    ["apiKey", "TUNERANK_API_KEY", "secret-part", odder],
    ["accountId", "TUNERANK_ACCOUNT_ID", "acme", odd],
    ["rerankModel", "TUNERANK_RERANK_MODEL", "a-model", odd],
  ] as const;

  test.each(
    named.flatMap(([option, variable, value, cases]) =>
      cases.flatMap(([where, ...values]) =>
        values.map((odd) => [option, variable, odd.replaceAll("x", value), where] as const),
      ),
    ),
  )("%s or %s of %j is refused because it %s", async (option, variable, value, where) => {
    const error = thrownBy(() => createClient({ [option]: value }));
    expect(textOf(error)).toBe(`[INVALID_ARGUMENT] ${option} ${where}.`);
    stub({ BASE_URL: server.url, API_KEY: canaryKey, ACCOUNT_ID: "acme" });
    vi.stubEnv(variable, value);
    const ofVariable = await failureOf(() => createClient().deployments.scale("prod", 1));
    expect(textOf(ofVariable)).toBe(`[INVALID_ARGUMENT] ${variable} ${where}.`);
    expect(inspect([error, ofVariable], { depth: null })).not.toContain("secret-part");
    expect(server.requests).toEqual([]);
  });

  test.each(["é", "k".repeat(8193)])("a key of %s is refused because of what it has", (apiKey) => {
    expect(textOf(thrownBy(() => createClient({ apiKey })))).toBe(
      "[INVALID_ARGUMENT] apiKey has a space, a line break, a character outside ASCII, or over 8192 characters.",
    );
  });

  test.each([
    ...["", null, 7, {}].map((value) => ["apiKey", value] as const),
    ...["", null].map((value) => ["baseUrl", value] as const),
    ...[["accountId", ""] as const, ["rerankModel", 7] as const],
  ])("an option %s given as %o throws at once, whatever the environment has", (option, value) => {
    stub({ BASE_URL: "https://api.example.com", API_KEY: canaryKey });
    const error = thrownBy(() => createClient({ [option]: value } as ClientOptions));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
    expect(error.message).toContain(option);
  });
});

describe("the base URL", () => {
  const refused: readonly (readonly [what: string, baseUrl: unknown, because?: string])[] = [
    ["that is empty", ""],
    ["that is no URL", "api.example.com"],
    ["that is a path", "/v1"],
    ["that is no string", 7],
    ["that is a URL, not its text", new URL("https://api.example.com")],
    ["with a user", "https://secret-part@api.example.com"],
    ["with a password", "https://:secret-part@api.example.com"],
    ["with a query", "https://api.example.com/?key=secret-part", "a query or fragment"],
    ["with a fragment", "https://api.example.com/#secret-part"],
    ["with two dots", "https://api.example.com/a/../b", 'the path segments "." or ".."'],
    ["with encoded dots", "https://api.example.com/a/%2e%2E/b"],
    ["with two dots at its end", "https://api.example.com/a/.."],
    ["with a backslash", "https://api.example.com\\a", "spaces, backslashes or control characters"],
    ["with a space", "https://api.example.com/a b"],
    ["with a space before it", " https://api.example.com"],
    ["with a line break", "https://api.example.com/\nv1"],
    // The account's id would take its place.
    ["with a template for a host", "https://{account_id}/secret-part"],
    ["with a template in its path", "https://api.example.com/{region}", '"{" or "}"'],
    ["with braces", "https://api.example.com/{secret-part}"],
    ["of another scheme", "ftp://api.example.com"],
  ];

  const remote = [
    ...["api.example.com", "10.0.0.1", "0.0.0.0", "128.0.0.1", "[::2]"],
    ...["127.0.0.1.example.com", "localhost.example.com"],
  ].map((host) => `http://${host}`);
  const loopback = ["127.0.0.1", "127.8.9.10", "127.100.101.102", "[::1]", "localhost"].map(
    (host) => `http://${host}:4010`,
  );

  test.each(refused)("%s is refused, and the error does not repeat it", (_what, baseUrl, because = "") => {
    const error = thrownBy(() =>
      createClient({ baseUrl: baseUrl as string, apiKey: canaryKey, allowInsecureHttp: true }),
    );
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
    expect(error.message).toContain("baseUrl");
    expect(error.message).toContain(because);
    expect(inspect(error, { depth: null })).not.toContain("secret-part");
  });

  test.each(remote)(
    "%s is refused without allowInsecureHttp: the key would travel unencrypted",
    (baseUrl) => {
      const error = thrownBy(() => createClient({ baseUrl, apiKey: canaryKey }));
      expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
      expect(error.hint).toContain("allowInsecureHttp");
      expect(() => createClient({ baseUrl, apiKey: canaryKey, allowInsecureHttp: true })).not.toThrow();
    },
  );

  test.each([...loopback, "https://api.example.com/base/"])("%s is taken", (baseUrl) => {
    expect(() => createClient({ baseUrl, apiKey: canaryKey })).not.toThrow();
  });

  test("with very many slashes is read at once", () => {
    // Time of the processor, of which others on this machine take nothing; backtracking would take minutes.
    const before = process.cpuUsage();
    createClient({ baseUrl: `https://api.example.com${"/".repeat(100_000)}x`, apiKey: canaryKey });
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
  });

  test("localhost by name is reached", async () => {
    const client = connect(server.url.replace("127.0.0.1", "localhost"));
    await client.deployments.scale("prod", 1);
    expect(server.only.headers.host).toMatch(/^localhost:\d+$/);
  });

  test.each([
    ["/", ""],
    ["/a", "/a"],
    ["/a/b/", "/a/b"],
    ["/a/b///", "/a/b"],
  ])("a base path of %s begins every path, its last slashes left out", async (given, sent) => {
    await connect(server.url + given).rerank({ query: "q", documents: ["d"] });
    expect(server.only.url).toBe(`${sent}/inference/v1/rerank`);
  });
});
