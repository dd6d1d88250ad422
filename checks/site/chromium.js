// Chromium, and what a page asks for and complains of while it is open.
import { chromium } from "playwright-core";
import { chromiumArguments, chromiumProgram } from "../machine.ts";

const args = [...chromiumArguments, "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"];

/** A started Chromium with an empty profile, for which no other host has an address. */
export function launch() {
  return chromium.launch({ executablePath: chromiumProgram, args });
}

/** Collects the page's console errors, exceptions and failed requests, and its requests to other origins. */
export function watch(page, origins) {
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
