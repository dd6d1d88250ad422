// npm run check:runtimes: the packed package's behaviour in every runtime, against one server.

import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { bundlers, checkInChromium, chromiumProgram, launch } from "./drivers/chromium.js";
import { checkInProcess, versionOf } from "./drivers/process.js";
import { checkInWorkerd } from "./drivers/workerd.js";
import { installPacked } from "./pack.js";
import { startServer } from "./server.js";

const { values: options } = parseArgs({ options: { "require-all": { type: "boolean", default: false } } });

const binary = (file) => fileURLToPath(new URL(`node_modules/${file}`, import.meta.url));
const nodes = [20, 22, 24, 26].map((major) => ({
  name: "Node",
  program: binary(`node-${major}/bin/node`),
  path: true,
}));
const programs = [
  ...nodes,
  { name: "Bun", program: binary("@oven/bun-linux-x64/bin/bun") },
  { name: "Deno", program: binary("@deno/linux-x64-glibc/deno"), args: ["run", "--allow-all"] },
];
const workerd = binary("@cloudflare/workerd-linux-64/bin/workerd");
const file = fileURLToPath(new URL("../examples/train.jsonl", import.meta.url));

const packed = installPacked("behaviour.js", "onServer.js", "inBrowser.js", "inWorkerd.js");
const { user } = packed;
const closedUrl = `http://127.0.0.1:${await closedPort()}`;
const rows = [];
const skipped = [];

await withServer({}, async (baseUrl) => {
  const place = { user, baseUrl, closedUrl };
  for (const { name, program, args, path } of programs) {
    if (!existsSync(program)) skipped.push(name);
    else {
      const results = await checkInProcess({ program, args }, { ...place, file: path && file });
      report(name, await versionOf(program), results);
    }
  }
  if (!existsSync(workerd)) skipped.push("workerd");
  else report("workerd, bundled by esbuild", await versionOf(workerd), await checkInWorkerd(workerd, place));
});

if (chromiumProgram === undefined) skipped.push("Chromium");
else {
  const browser = await launch();
  for (const [bundler, bundle] of Object.entries(bundlers)) {
    const pages = {
      [`/?closed=${encodeURIComponent(closedUrl)}`]: {
        type: "text/html",
        body: '<!doctype html><title>Checks</title><script type="module" src="/page.js"></script>',
      },
      "/page.js": { type: "text/javascript", body: await bundle(user) },
    };
    await withServer(pages, async (baseUrl) => {
      const results = await checkInChromium(browser, `${baseUrl}${Object.keys(pages)[0]}`);
      report(`Chromium, bundled by ${bundler}`, browser.version(), results);
    });
  }
  await browser.close();
}
packed.remove();

for (const name of skipped) console.log(`SKIPPED  ${name}: it is not on this machine.`);
const failed = rows.filter(({ passed, checks }) => passed < checks);
if (failed.length > 0 || (options["require-all"] && skipped.length > 0)) process.exitCode = 1;
else if (skipped.length === 0) {
  const date = new Date().toISOString().slice(0, 10);
  const data = new URL("../docs/data/runtimes.json", import.meta.url);
  writeFileSync(data, `${JSON.stringify({ date, rows }, undefined, 2)}\n`);
}

function report(runtime, version, results) {
  const wrong = results.filter(([, error]) => error);
  rows.push({ runtime, version, passed: results.length - wrong.length, checks: results.length });
  console.log(
    `${wrong.length === 0 ? "ok      " : "FAILED  "} ${runtime} ${version}: ${results.length - wrong.length} of ${results.length}`,
  );
  for (const [name, error] of wrong) console.log(`  ${name}: ${error}`);
}

async function withServer(pages, use) {
  const server = await startServer(pages);
  try {
    await use(server.url);
  } finally {
    server.close();
  }
}

async function closedPort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}
