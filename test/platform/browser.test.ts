import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { isBrowser } from "../../src/platform/server.js";
import { createTransport } from "../../src/platform/web.js";

// As Chromium, Firefox and Safari say it.
const said = ["Failed to fetch", "NetworkError when attempting to fetch resource.", "Load failed"] as const;

function failureOf(): Promise<Error> {
  const exchange = createTransport({
    maxConnections: 1,
    keepAliveMs: 1000,
    agent: undefined,
    proxy: undefined,
  }).send({
    method: "POST",
    url: new URL("https://api.example.com/inference/v1/rerank"),
    headers: {},
    body: "{}",
    maxResponseBytes: 1024,
    freshSocket: false,
    connectTimeoutMs: 1000,
    timeoutMs: 1000,
    lifetime: { started() {} },
  });
  return exchange.response.then(
    () => new Error("It was answered."),
    (error) => error as Error,
  );
}

afterEach(() => vi.unstubAllGlobals());

describe.each(said)('a request of which the browser says "%s"', (text) => {
  beforeEach(() => vi.stubGlobal("fetch", async () => Promise.reject(new TypeError(text))));

  test("mentions CORS in a page", async () => {
    vi.stubGlobal("document", {});
    const { message } = await failureOf();
    expect(message).toMatch(/^The request failed: [A-Z][\w ]+[a-z]\. The browser does not say why: /);
    expect(message).toContain("CORS, when the service does not allow this page's origin");
  });

  test("does not elsewhere", async () => {
    expect((await failureOf()).message).toBe(`The request failed: ${text}`);
  });
});

test("a reason that the browser gives is enough", async () => {
  vi.stubGlobal("document", {});
  const cause = new Error("connect ECONNREFUSED");
  vi.stubGlobal("fetch", async () => Promise.reject(new TypeError("fetch failed", { cause })));
  expect((await failureOf()).message).toBe("The request failed: connect ECONNREFUSED");
});

test("Bun and Deno are no browser, though a test has put a document there", () => {
  vi.stubGlobal("document", {});
  expect(isBrowser()).toBe(false);
});
