import { afterEach, describe, expect, test, vi } from "vitest";
import { createClient } from "../../src/index.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf, thrownBy } from "../support/clients.js";

afterEach(() => void vi.unstubAllEnvs());

const refused = { code: "INVALID_ARGUMENT", executed: "no" };

// Addresses are compared as the URL parser reads them, not as they are written.
describe("plain http", () => {
  test.each([
    "http://localhost.",
    "http://127.0.0.1.nip.example",
    "http://[::ffff:127.0.0.1]",
    "http://0",
    "http://2130706434.example",
    "http://lo\u0441alhost",
  ])("to %s is refused, and what is not true does not allow it", (baseUrl) => {
    for (const allowInsecureHttp of [undefined, "true", 1, {}]) {
      const options = { baseUrl, apiKey: canaryKey, allowInsecureHttp };
      expect(thrownBy(() => createClient(options as object))).toMatchObject(refused);
    }
  });

  test.each(["http://2130706433", "http://0x7f.1", "http://127.1", "http://LOCALHOST", "http://[0:0::1]"])(
    "to %s is taken: it is this machine",
    (baseUrl) => {
      expect(() => createClient({ baseUrl, apiKey: canaryKey })).not.toThrow();
    },
  );

  test("is refused from the environment and from withOptions as well", async () => {
    vi.stubEnv("TUNERANK_BASE_URL", "http://api.example.com");
    const error = await failureOf(() => createClient({ apiKey: canaryKey }).deployments.scale("prod", 1));
    expect(error).toMatchObject(refused);
    expect(error.message).toContain("TUNERANK_BASE_URL is plain http to another machine");
    const client = connect("https://api.example.com");
    expect(thrownBy(() => client.withOptions({ baseUrl: "http://api.example.com" }))).toMatchObject(refused);
  });
});
