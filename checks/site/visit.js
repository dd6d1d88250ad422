// What every test of the site begins with: the site on a port, a Chromium, pages that are watched.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { after, before } from "node:test";
import { chromium } from "playwright-core";
import { chromiumArguments, chromiumProgram } from "../machine.ts";
import { serveSite } from "./site.js";

const desktop = { width: 1280, height: 900 };
/** The window of a telephone. */
export const phone = { width: 390, height: 844 };

/** Serves the site for a file's tests; `open` resolves to a new page of it, once that page is alive. */
export function useSite() {
  const started = {};
  before(async () => {
    started.site = await serveSite();
    started.browser = await launch();
  });
  const contexts = new Map();
  const shared = (options) => {
    const key = JSON.stringify(options);
    if (!contexts.has(key)) contexts.set(key, started.browser.newContext(options));
    return contexts.get(key);
  };
  after(async () => {
    await started.browser?.close();
    await started.site?.close();
  });
  return {
    get origin() {
      return started.site.origin;
    },
    /** Pages opened alike share a profile, and so what it cached; `apart` has one of its own. */
    async open(address, { origins = [], apart = false, ...chosen } = {}) {
      const options = { viewport: desktop, colorScheme: "light", reducedMotion: "reduce", ...chosen };
      const context = apart ? await started.browser.newContext(options) : await shared(options);
      const page = await context.newPage();
      const seen = watch(page, [started.site.origin, ...origins]);
      await page.goto(`${started.site.origin}/${address}`);
      if (options.javaScriptEnabled !== false) await page.waitForFunction(isAlive);
      return { page, seen, context, close: () => (apart ? context : page).close() };
    },
  };
}

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe has against a page, or by these rules alone: where and why. */
export async function axeFinds(page, { exclude = [], rules } = {}) {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe);
  // Without the selectors of everything that is in order it takes a fraction of the time.
  const options = { resultTypes: ["violations"], ...(rules && { runOnly: { type: "rule", values: rules } }) };
  const { violations } = await page.evaluate(
    ([exclude, options]) => globalThis.axe.run({ exclude }, options),
    [exclude, options],
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.target.join(" ")}\n  ${node.any[0]?.message ?? node.failureSummary}`),
  );
}

// Vue marks the element when it has mounted there; only then a key or a click does something.
function isAlive() {
  const app = document.querySelector("#app");
  return app === null || app.__vue_app__ !== undefined;
}

/** Fails when a page complained, or asked another host for something. */
export function expectQuiet(seen) {
  assert.deepEqual({ errors: seen.errors, outside: seen.outside }, { errors: [], outside: [] });
}

const args = [...chromiumArguments, "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"];

/** A started Chromium with an empty profile, for which no other host has an address. */
export function launch() {
  return chromium.launch({ executablePath: chromiumProgram, args });
}

/** Collects the page's console errors, exceptions and failed requests, and its requests to other origins. */
function watch(page, origins) {
  const seen = { errors: [], outside: [], requests: [] };
  page.on("console", (message) => {
    if (message.type() === "error") seen.errors.push(message.text());
  });
  page.on("pageerror", (error) => seen.errors.push(String(error)));
  page.on("request", (request) => {
    const url = new URL(request.url());
    seen.requests.push(request);
    const local = url.protocol === "data:" || url.protocol === "blob:";
    if (!local && !origins.includes(url.origin)) seen.outside.push(request.url());
  });
  return seen;
}
