import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { createClient } from "../../src/index.js";
import { canaryKey } from "../support/canary.js";
import { connect, thrownBy, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();

const refused: readonly (readonly [what: string, baseUrl: unknown])[] = [
  ["that is empty", ""],
  ["that is no URL", "api.example.com"],
  ["that is a path", "/v1"],
  ["that is no string", 7],
  ["that is a URL, not its text", new URL("https://api.example.com")],
  ["with a user", "https://secret-part@api.example.com"],
  ["with a password", "https://user:secret-part@api.example.com"],
  ["with a password alone", "https://:secret-part@api.example.com"],
  ["with a query", "https://api.example.com/?key=secret-part"],
  ["with an empty query", "https://api.example.com/?"],
  ["with a fragment", "https://api.example.com/#secret-part"],
  ["with a dot segment", "https://api.example.com/a/./b"],
  ["with two dots", "https://api.example.com/a/../b"],
  ["with encoded dots", "https://api.example.com/a/%2e%2E/b"],
  ["with two dots at its end", "https://api.example.com/a/.."],
  ["with a backslash", "https://api.example.com\\a"],
  ["with a space", "https://api.example.com/a b"],
  ["with a space before it", " https://api.example.com"],
  ["with a line break", "https://api.example.com/\nv1"],
  ["with a tab", "https://api.\texample.com"],
  // The account's id would take its place.
  ["with a template for a host", "https://{account_id}/secret-part"],
  ["with a template in its path", "https://api.example.com/{region}"],
  ["with braces", "https://api.example.com/{secret-part}"],
  ["of another scheme", "ftp://api.example.com"],
  ["of a file", "file:///etc/passwd"],
];

const remote = [
  "http://api.example.com",
  "http://10.0.0.1",
  "http://0.0.0.0",
  "http://128.0.0.1",
  "http://127.0.0.1.example.com",
  "http://localhost.example.com",
  "http://[::2]",
];

const loopback = [
  "http://127.0.0.1:4010",
  "http://127.8.9.10",
  "http://127.100.101.102",
  "http://[::1]:4010",
  "http://localhost:4010",
];

describe("a base URL", () => {
  test.each(refused)("%s is refused, and the error does not repeat it", (_what, baseUrl) => {
    const error = thrownBy(() =>
      createClient({ baseUrl: baseUrl as string, apiKey: canaryKey, allowInsecureHttp: true }),
    );
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
    expect(error.message).toContain("baseUrl");
    expect(inspect(error, { depth: null })).not.toContain("secret-part");
  });

  test.each([
    ["https://api.example.com/?key=k", "a query or fragment"],
    ["https://api.example.com/#part", "a query or fragment"],
    ["https://api.example.com/a b", "has a blank inside"],
    ["https://api.example.com/a\\b", "spaces, backslashes or control characters"],
    ["https://api.example.com/{region}", '"{" or "}"'],
    ["https://api.example.com/a/../b", 'the path segments "." or ".."'],
  ])("%s is refused because of %s", (baseUrl, what) => {
    expect(thrownBy(() => createClient({ baseUrl, apiKey: canaryKey })).message).toContain(what);
  });

  test.each(remote)("%s is refused: the key would travel unencrypted", (baseUrl) => {
    const error = thrownBy(() => createClient({ baseUrl, apiKey: canaryKey }));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
    expect(error.hint).toContain("allowInsecureHttp");
  });

  test.each(remote)("%s is taken with allowInsecureHttp", (baseUrl) => {
    expect(() => createClient({ baseUrl, apiKey: canaryKey, allowInsecureHttp: true })).not.toThrow();
  });

  test.each(loopback)("%s is taken: it is this machine", (baseUrl) => {
    expect(() => createClient({ baseUrl, apiKey: canaryKey })).not.toThrow();
  });

  test("with very many slashes is read at once", () => {
    // Time of the processor, of which others on this machine take nothing; backtracking would take minutes.
    const before = process.cpuUsage();
    createClient({ baseUrl: `https://api.example.com${"/".repeat(100_000)}x`, apiKey: canaryKey });
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
  });

  test("of https is taken", () => {
    expect(() => createClient({ baseUrl: "https://api.example.com/base/", apiKey: canaryKey })).not.toThrow();
  });
});

describe.each(transports)("over $name", ({ options }) => {
  test("localhost by name is reached", async () => {
    const client = connect(server.url.replace("127.0.0.1", "localhost"), options);
    await client.deployments.scale("prod", 1);
    expect(server.only.headers.host).toMatch(/^localhost:\d+$/);
  });

  test.each([
    ["/", ""],
    ["/a", "/a"],
    ["/a/b/", "/a/b"],
    ["/a/b///", "/a/b"],
  ])("a base path of %s begins every path, its last slashes left out", async (given, sent) => {
    await connect(server.url + given, options).rerank({ query: "q", documents: ["d"] });
    expect(server.only.url).toBe(`${sent}/inference/v1/rerank`);
  });
});
