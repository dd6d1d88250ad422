import { afterEach, describe, expect, test, vi } from "vitest";
import { createClient } from "../../src/index.js";
import { canaryKey, leaksOf } from "../support/canary.js";
import { connect, failureOf, operationCalls, thrownBy, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("plain http", () => {
  // Addresses are compared as the URL parser reads them, not as they are written.
  test.each([
    "http://localhost.",
    "http://127.0.0.1.nip.example",
    "http://[::ffff:127.0.0.1]",
    "http://0",
    "http://2130706434.example",
    "http://lo\u0441alhost",
  ])("to %s is refused", (baseUrl) => {
    const refused = { code: "INVALID_ARGUMENT", executed: "no" };
    // What is not true does not allow it.
    for (const allowInsecureHttp of [undefined, "true", 1, {}]) {
      const options = { baseUrl, apiKey: canaryKey, allowInsecureHttp };
      const error = thrownBy(() => createClient(options as object));
      expect(error).toMatchObject(refused);
      if (allowInsecureHttp === undefined) expect(error.hint).toContain("allowInsecureHttp");
    }
  });

  test.each(["http://localhost@api.example.com", "http://127.0.0.1:80@api.example.com"])(
    "to %s is refused for its user name, allowed or not",
    (baseUrl) => {
      const error = thrownBy(() => createClient({ baseUrl, apiKey: canaryKey, allowInsecureHttp: true }));
      expect(error.message).toContain("user name or password");
      expect(error.message).not.toContain("api.example.com");
    },
  );

  test.each(["http://2130706433", "http://0x7f.1", "http://127.1", "http://LOCALHOST", "http://[0:0::1]"])(
    "to %s is taken: it is this machine",
    (baseUrl) => {
      expect(() => createClient({ baseUrl, apiKey: canaryKey })).not.toThrow();
    },
  );

  test("is refused from the environment and from withOptions as well", async () => {
    vi.stubEnv("TUNERANK_BASE_URL", "http://api.example.com");
    const refused = { code: "INVALID_ARGUMENT", executed: "no" };
    const ofEnvironment = createClient({ apiKey: canaryKey });
    const error = await failureOf(() => ofEnvironment.rerank({ query: "q", documents: ["d"] }));
    expect(error).toMatchObject(refused);
    expect(error.message).toContain("TUNERANK_BASE_URL is plain http to another machine");
    const client = connect("https://api.example.com");
    expect(thrownBy(() => client.withOptions({ baseUrl: "http://api.example.com" }))).toMatchObject(refused);
  });
});

describe("a fetch function's error that holds the request", () => {
  test.each(operationCalls)("leaves nothing of it in the error of $operation", async ({ call }) => {
    const fetch = async (_url: string, init: { headers: object }): Promise<never> => {
      const { headers } = init;
      const cause = Object.assign(new Error(`sent ${JSON.stringify(headers)}`), { config: { headers } });
      throw Object.assign(new TypeError("failed", { cause }), { request: init, headers });
    };
    const error = await failureOf(() => call(connect("https://api.example.com", { fetch })));
    expect(error).toMatchObject({ code: "UNAVAILABLE", codeSource: "transport" });
    expect(error.cause).toBeInstanceOf(Error);
    expect(error.cause).not.toHaveProperty("request");
    expect(leaksOf(error)).toEqual([]);
  });
});

describe.each(transports)("over $name", ({ options }) => {
  test.each([
    "text/plain\r\nx-evil: 1",
    'text/plain\r\n\r\nevil\r\n--b\r\nContent-Disposition: form-data; name="x"',
  ])("no line of a part's header can be put in by contentType %j", async (contentType) => {
    const client = connect(server.url, options);
    const call = () => client.datasets.upload("reviews", new Uint8Array([1]), { name: "f", contentType });
    expect(await failureOf(call)).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
    expect(server.requests).toEqual([]);
  });

  test("a file's name cannot leave its header, and is one part to the server", async () => {
    const name = `a"; filename*=utf-8''x; name="y.jsonl`;
    await connect(server.url, options).datasets.upload("reviews", new File(["x"], name));
    expect(server.only.files).toHaveLength(1);
    expect(server.only.files[0]).toMatchObject({ part: "file", filename: name.replaceAll('"', "%22") });
    expect(server.only.fields).toEqual({});
  });
});
