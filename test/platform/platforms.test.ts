import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { unexplained } from "../../src/call/noResponse.js";
import { isStatusError } from "../../src/index.js";
import { isBrowser, permissionFor, readVariable } from "../../src/platform/server.js";
import { createTransport } from "../../src/platform/web.js";
import { loaded, startCall } from "../../src/wrappers/invoke.js";

describe("a browser", () => {
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
      form: undefined,
      maxResponseBytes: 1024,
      freshSocket: false,
      connectTimeoutMs: 1000,
      lifetime: { started() {}, running: undefined, timeoutMs: 1000 },
    });
    return exchange.whole.then(
      () => new Error("It got a response."),
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
});

describe("the environment", () => {
  const variable = "TUNERANK_API_KEY";
  const refuse = (): never => {
    throw new Error(`Requires env access to "${variable}", run again with the --allow-env flag`);
  };

  // As Deno's process.env is; checks/runtimes has Deno itself, with --allow-net alone.
  function stub(state: "granted" | "denied" | "prompt"): { readonly asked: string[] } {
    const asked: string[] = [];
    const env = new Proxy(
      { [variable]: "key-of-environment" },
      {
        getOwnPropertyDescriptor(target, name) {
          asked.push(String(name));
          return state === "denied" ? refuse() : Reflect.getOwnPropertyDescriptor(target, name);
        },
      },
    );
    vi.stubGlobal("Deno", { permissions: { querySync: () => ({ state }) } });
    vi.stubGlobal("process", { env });
    return { asked };
  }

  afterEach(() => vi.unstubAllGlobals());

  describe("on Deno", () => {
    test("a variable that may be read is read, and needs no flag", () => {
      stub("granted");
      expect(readVariable(variable, false)).toBe("key-of-environment");
      expect(permissionFor([variable])).toBe("");
    });

    test("a variable that may not be read counts as unset, and the flag that allows it is named", () => {
      stub("denied");
      expect(readVariable(variable, true)).toBeUndefined();
      expect(permissionFor([variable])).toContain(`--allow-env=${variable}`);
    });

    test("the user is asked for what a call needs, and for nothing else", () => {
      const { asked } = stub("prompt");
      expect(readVariable(variable, false)).toBeUndefined();
      expect(asked).toEqual([]);
      expect(readVariable(variable, true)).toBe("key-of-environment");
      expect(asked).toContain(variable);
    });
  });
});

describe("what is loaded late", () => {
  test("a part of the package that cannot be loaded is an error of the call that needs it, and nothing was sent", async () => {
    const cause = new TypeError("Failed to fetch dynamically imported module");
    const call = startCall("uploadDatasetFile", { secrets: [] }, () => loaded(Promise.reject(cause)));
    const error = await call.catch((caught: unknown) => caught);
    expect(isStatusError(error, "UNAVAILABLE")).toBe(true);
    expect(error).toMatchObject({
      executed: "no",
      executedBecause: "nothing-sent",
      codeSource: "client",
      operation: "uploadDatasetFile",
      notRetried: "refused",
      attempts: [],
      cause,
    });
    expect(String(error)).toContain("A part of this package could not be loaded. Check the network");
  });

  test.each([
    [404, "NOT_FOUND", "no"],
    [503, "UNAVAILABLE", "unknown"],
    [200, "UNKNOWN", "yes"],
  ])(
    "a response with HTTP %i whose part cannot be loaded keeps what its status says",
    (status, code, executed) => {
      const failure = unexplained({ status });
      expect(failure).toMatchObject({ httpStatus: status, code, executed });
      expect(failure.message).toContain("could not be loaded");
    },
  );
});
