import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { build } from "esbuild";
import { afterAll, describe, expect, test } from "vitest";
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

async function bundle(contents: string, outdir: string): Promise<string> {
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
  return path.join(outdir, "stdin.mjs");
}

test("in a page and in a worker of one, a key needs dangerouslyAllowBrowser", async () => {
  const { stdout, stderr } = await run(process.execPath, [
    await bundle(program, path.join(folder, "places")),
  ]);
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
  const chunksOf = (outdir: string) => readdirSync(path.join(outdir, "late"));

  test("shows no key, and tells what happened", async () => {
    const { stdout } = await run(process.execPath, [await bundle(calls, path.join(folder, "whole"))]);
    expect(stdout).not.toContain(apiKey);
    const told = JSON.parse(stdout) as string[];
    expect(told[1]).toContain("Bearer [redacted] failed");
    expect(told[2]).toBe("unknown");
    expect(told[3]).toBe("Bearer [redacted] failed");
    expect(told[5]).toContain("req-1");
    expect(told.at(-3)).toContain("[UNAVAILABLE] Bearer [redacted].");
  });

  test("that cannot load its late parts shows no key either, and keeps the facts", async () => {
    const outdir = path.join(folder, "cut");
    const entry = await bundle(calls, outdir);
    for (const name of chunksOf(outdir))
      if (/^(redact|errorResponse)/.test(name)) rmSync(path.join(outdir, "late", name));
    const { stdout, stderr } = await run(process.execPath, [entry]);
    expect(stderr).toBe("");
    expect(stdout).not.toContain(apiKey);
    const told = JSON.parse(stdout) as string[];
    expect(told.slice(1, 4)).toEqual([
      expect.stringContaining("[UNAVAILABLE] [redacted]"),
      "unknown",
      "undefined",
    ]);
    expect(told[5]).toContain("req-1");
    expect(told.at(-3)).toContain("could not be loaded");
    expect(told.at(-2)).toBe("unknown");
  });
});
