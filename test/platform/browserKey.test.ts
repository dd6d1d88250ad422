import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { build } from "esbuild";
import { afterAll, expect, test } from "vitest";
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

test("in a page and in a worker of one, a key needs dangerouslyAllowBrowser", async () => {
  const outfile = path.join(folder, "page.mjs");
  const stdin = { contents: program, resolveDir: root, loader: "ts" } as const;
  const conditions = ["tunerank-source", "browser"];
  await build({
    stdin,
    outfile,
    conditions,
    absWorkingDir: root,
    bundle: true,
    format: "esm",
    platform: "browser",
  });
  const { stdout, stderr } = await run(process.execPath, [outfile]);
  expect(stderr).toBe("");
  const refused = ["dangerouslyAllowBrowser", "made"];
  expect(JSON.parse(stdout)).toEqual([["made", "made"], refused, refused]);
});
