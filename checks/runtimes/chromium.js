// Chromium: a page with one bundle, made by esbuild or by Vite.
import path from "node:path";
import { build as esbuild } from "esbuild";
import { chromium } from "playwright-core";
import { build as vite } from "vite";
import { chromiumArguments, chromiumProgram } from "../machine.ts";

/** A started Chromium. */
export function launch() {
  return chromium.launch({ executablePath: chromiumProgram, args: [...chromiumArguments] });
}

/** The page's files as each bundler makes them. */
export const bundlers = {
  async esbuild(user) {
    const { outputFiles } = await esbuild({
      entryPoints: [path.join(user, "inBrowser.js")],
      bundle: true,
      minify: true,
      format: "esm",
      platform: "browser",
      write: false,
      logLevel: "error",
    });
    return { "page.js": outputFiles[0].text };
  },
  async vite(user) {
    const rollupOptions = {
      input: path.join(user, "inBrowser.js"),
      output: { entryFileNames: "page.js" },
    };
    const { output } = await vite({ root: user, logLevel: "error", build: { write: false, rollupOptions } });
    // What is loaded when it is used is in files of its own.
    return Object.fromEntries(output.map(({ fileName, code }) => [fileName, code]));
  },
};

/** Runs the checks in a page. */
export async function checkInChromium(browser, pageUrl) {
  const page = await browser.newPage();
  try {
    await page.goto(pageUrl);
    await page.waitForFunction("window.results", undefined, { timeout: 120_000 });
    return await page.evaluate("window.results");
  } finally {
    await page.close();
  }
}
