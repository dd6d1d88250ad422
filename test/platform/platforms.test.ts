import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { build } from "esbuild";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { unexplained } from "../../src/call/noResponse.js";
import { isStatusError } from "../../src/index.js";
import { isBrowser, permissionFor, readVariable } from "../../src/platform/server.js";
import { createTransport } from "../../src/platform/web.js";
import { loaded, startCall } from "../../src/wrappers/invoke.js";
import { root, run } from "../support/project.js";

const folder = mkdtempSync(path.join(tmpdir(), "tunerank-browser-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// What a bundler makes for a page, run with the globals that a place has.
const program = `
  import { createClient } from "./src/index.ts";
  const made = (more) => {
    try {
      createClient({ baseUrl: "https://api.example.com", apiKey: "key-1", fetch, ...more });
      return "made";
    } catch (error) {
      return error.argument;
    }
  };
  const places = [{}, { document: {} }, { importScripts() {} }];
  console.log(JSON.stringify(places.map((globals) => {
    Object.assign(globalThis, globals);
    const found = [made({}), made({ dangerouslyAllowBrowser: true })];
    for (const name of Object.keys(globals)) delete globalThis[name];
    return found;
  })));`;

/** Runs what a bundler makes for a page, which is left in a folder of this name. */
async function runBundle(contents: string, name: string, lost = /^$/) {
  const outdir = path.join(folder, name);
  await build({
    stdin: { contents, resolveDir: root, loader: "ts" },
    outdir,
    conditions: ["tunerank-source", "browser"],
    absWorkingDir: root,
    bundle: true,
    splitting: true,
    chunkNames: "late/[name]-[hash]",
    outExtension: { ".js": ".mjs" },
    format: "esm",
    platform: "browser",
  });
  const late = path.join(outdir, "late");
  for (const chunk of readdirSync(late)) if (lost.test(chunk)) rmSync(path.join(late, chunk));
  return run(process.execPath, [path.join(outdir, "stdin.mjs")]);
}

test("in a page and in a worker of one, a key needs dangerouslyAllowBrowser", async () => {
  const { stdout, stderr } = await runBundle(program, "places");
  expect(stderr).toBe("");
  const refused = ["dangerouslyAllowBrowser", "made"];
  expect(JSON.parse(stdout)).toEqual([["made", "made"], refused, refused]);
});

describe("a page", () => {
  const apiKey = "key-of-a-page-that-is-not-short";
  const calls = `
    import { createClient } from "./src/index.ts";
    const told = [];
    const call = async (fetch) => {
      const client = createClient({
        baseUrl: "https://api.example.com", apiKey: "${apiKey}", fetch, maxRetries: 0,
        onAttempt: ({ headers }) => told.push(JSON.stringify(headers ?? {})),
      });
      const found = await client.deployments.scale("prod", 1, { accountId: "acme" }).withResponse()
        .then(({ attempts: [{ headers }] }) => JSON.stringify(headers), (error) => error);
      told.push(String(found.message ?? found), String(found.executed), String(found.cause?.message));
    };
    const echo = (headers) => ({ "x-echo": headers.authorization, "x-request-id": "req-1" });
    await call(async (_url, { headers }) => { throw new TypeError(headers.authorization + " failed"); });
    await call(async (_url, { headers }) => Response.json({}, { headers: echo(headers) }));
    await call(async (_url, { headers }) =>
      Response.json({ message: headers.authorization }, { status: 503, headers: echo(headers) }));
    console.log(JSON.stringify(told));`;

  test("shows no key, and tells what happened", async () => {
    const { stdout } = await runBundle(calls, "whole");
    expect(stdout).not.toContain(apiKey);
    const told = JSON.parse(stdout) as string[];
    expect(told[1]).toContain("Bearer [redacted] failed");
    expect(told[2]).toBe("unknown");
    expect(told[3]).toBe("Bearer [redacted] failed");
    expect(told[5]).toContain("req-1");
    expect(told.at(-3)).toContain("[UNAVAILABLE] Bearer [redacted].");
  });

  test("that cannot load its late parts shows no key either, and keeps the facts", async () => {
    const { stdout, stderr } = await runBundle(calls, "cut", /^(redact|errorResponse)/);
    expect(stderr).toBe("");
    expect(stdout).not.toContain(apiKey);
    const told = JSON.parse(stdout) as string[];
    expect(told[1]).toContain("[UNAVAILABLE] [redacted]");
    expect(told.slice(2, 4)).toEqual(["unknown", "undefined"]);
    expect(told[5]).toContain("req-1");
    expect(told.at(-3)).toContain("could not be loaded");
    expect(told.at(-2)).toBe("unknown");
  });
});

describe("a browser", () => {
  const messageIn = async (page: object, error: TypeError): Promise<string> => {
    vi.stubGlobal("fetch", () => Promise.reject(error));
    for (const [name, value] of Object.entries(page)) vi.stubGlobal(name, value);
    const transport = createTransport({
      maxConnections: 1,
      keepAliveMs: 1000,
      agent: undefined,
      proxy: undefined,
    });
    const exchange = transport.send({
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
      () => "It got a response.",
      (error) => (error as Error).message,
    );
  };
  afterEach(() => vi.unstubAllGlobals());

  // As Chromium, Firefox and Safari say it.
  test.each(["Failed to fetch", "NetworkError when attempting to fetch resource.", "Load failed"])(
    'mentions CORS in a page where all that it says is "%s", and not elsewhere',
    async (text) => {
      const message = await messageIn({ document: {} }, new TypeError(text));
      expect(message).toMatch(/^The request failed: [A-Z][\w ]+[a-z]\. The browser does not say why: /);
      expect(message).toContain("CORS, when the service does not allow this page's origin");
      vi.unstubAllGlobals();
      expect(await messageIn({}, new TypeError(text))).toBe(`The request failed: ${text}`);
    },
  );

  test("that gives a reason needs no other", async () => {
    const error = new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") });
    expect(await messageIn({ document: {} }, error)).toBe("The request failed: connect ECONNREFUSED");
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
      ...{ executed: "no", executedBecause: "nothing-sent", notRetried: "refused", attempts: [] },
      ...{ codeSource: "client", operation: "uploadDatasetFile", cause },
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
