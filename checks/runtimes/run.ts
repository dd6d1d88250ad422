// npm run check:runtimes: the packed package's behaviour in every runtime, against one server.
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { recordRun } from "../../scripts/lastRuns.js";
import { installPacked } from "../installPacked.js";
import { chromiumProgram } from "../machine.js";
import {
  binary,
  type CheckResult,
  checkInProcess,
  checkInWorkerd,
  type NamedRuntime,
  type Place,
  programsOf,
  unableTo,
  versionOf,
} from "./drivers.js";
import { type Pages, startServer } from "./server.js";

const { values: options } = parseArgs({ options: { "require-all": { type: "boolean", default: false } } });

const workerd = binary("@cloudflare/workerd-linux-64/bin/workerd");
const file = fileURLToPath(new URL("../../examples/train.jsonl", import.meta.url));

const entries = ["onServer.js", "inNode.js", "inBun.js", "inDeno.js", "inBrowser.js", "inWorkerd.js"];
const programsOfUsers = ["checking.js", "behaviour.js", ...entries];
const packed = installPacked(programsOfUsers.map((name) => new URL(name, import.meta.url)));
const { user } = packed;
const closedUrl = `http://127.0.0.1:${await closedPort()}`;
const rows: { runtime: string; version: string; passed: number; checks: number }[] = [];
const skipped: string[] = [];
const absent = "it is not on this machine";

await withServer({}, async (baseUrl) => {
  const place = { user, baseUrl, closedUrl, file, modules: binary("") };
  for (const runtime of programsOf(user, file)) await checkProgram(runtime, place);
  if (!existsSync(workerd)) skipped.push(`workerd: ${absent}`);
  else report("workerd, bundled by esbuild", await versionOf(workerd), await checkInWorkerd(workerd, place));
});
if (chromiumProgram === undefined) skipped.push(`Chromium: ${absent}`);
else await checkPages();
packed.remove();
conclude();

async function checkProgram({ name, ...runtime }: NamedRuntime, place: Place): Promise<void> {
  const why = existsSync(runtime.program) ? unableTo(runtime.within) : absent;
  if (why !== undefined) skipped.push(`${name}: ${why}`);
  else report(name, await versionOf(runtime.program), await checkInProcess(runtime, place));
}

interface Browser {
  version(): string;
  close(): Promise<void>;
}

/** What chromium.js has, whose libraries this folder alone installs. */
interface Chromium {
  launch(): Promise<Browser>;
  readonly bundlers: Readonly<Record<string, (user: string) => Promise<Record<string, string>>>>;
  checkInChromium(browser: Browser, pageUrl: string): Promise<CheckResult[]>;
}

async function checkPages(): Promise<void> {
  const chromium: Chromium = await import(new URL("chromium.js", import.meta.url).href);
  const browser = await chromium.launch();
  for (const [bundler, bundle] of Object.entries(chromium.bundlers)) {
    await checkPage(chromium, browser, `bundled by ${bundler}`, await bundle(user));
  }
  const read = (file: string): string => readFileSync(path.join(user, file), "utf8");
  // No bundler, and no import map: the page names two files.
  await checkPage(chromium, browser, "tunerank/browser", {
    "page.js": read("inBrowser.js").replace('"tunerank"', '"./tunerank.js"'),
    "behaviour.js": read("behaviour.js"),
    "checking.js": read("checking.js"),
    "tunerank.js": read("node_modules/tunerank/dist/browser.js"),
  });
  await browser.close();
}

async function checkPage(
  { checkInChromium }: Chromium,
  browser: Browser,
  form: string,
  modules: Record<string, string>,
): Promise<void> {
  const address = `/?closed=${encodeURIComponent(closedUrl)}`;
  const html = '<!doctype html><title>Checks</title><script type="module" src="/page.js"></script>';
  const served = Object.entries(modules).map(
    ([name, body]) => [`/${name}`, { type: "text/javascript", body }] as const,
  );
  const pages = { [address]: { type: "text/html", body: html }, ...Object.fromEntries(served) };
  await withServer(pages, async (baseUrl) => {
    report(`Chromium, ${form}`, browser.version(), await checkInChromium(browser, baseUrl + address));
  });
}

function report(runtime: string, version: string, results: readonly CheckResult[]): void {
  const wrong = results.filter(([, error]) => error);
  const passed = results.length - wrong.length;
  rows.push({ runtime, version, passed, checks: results.length });
  const word = wrong.length === 0 ? "ok      " : "FAILED  ";
  console.log(`${word} ${runtime} ${version}: ${passed} of ${results.length}`);
  for (const [name, error] of wrong) console.log(`  ${name}: ${error}`);
}

function conclude(): void {
  for (const name of skipped) console.log(`SKIPPED  ${name}.`);
  const failed = rows.filter(({ passed, checks }) => passed < checks);
  if (failed.length > 0 || (options["require-all"] && skipped.length > 0)) process.exitCode = 1;
  else if (skipped.length === 0) {
    const date = new Date().toISOString().slice(0, 10);
    const data = new URL("../../docs/data/runtimes.json", import.meta.url);
    writeFileSync(data, `${JSON.stringify({ date, rows }, undefined, 2)}\n`);
    recordRun("runtimes");
  }
}

async function withServer(pages: Pages, use: (baseUrl: string) => Promise<void>): Promise<void> {
  const server = await startServer(pages);
  try {
    await use(server.url);
  } finally {
    server.close();
  }
}

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
