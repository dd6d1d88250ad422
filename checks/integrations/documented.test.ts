import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { runProgram } from "./support/program.ts";
import { server, service } from "./support/service.ts";

const folder = new URL("documented/", import.meta.url);
const node20 = fileURLToPath(new URL("node_modules/node-20/bin/node", import.meta.url));

// What each prints, and how many requests it makes of the service it is given.
const expected: Readonly<Record<string, readonly [printed: RegExp, requests: number]>> = {
  "aiSdk.ts": [/^0\.\d{3} If you forgot your password.*\n0\.\d{3} A password.*\n$/, 1],
  "langchain.ts": [/^0\.\d{3} Choose Reset if you forgot your password\.\n$/, 1],
  // These two catch what is sent, and assert what it was.
  "msw.ts": [/^$/, 0],
  "nock.ts": [/^$/, 0],
};

for (const [file, [printed, requests]] of Object.entries(expected)) {
  test(`${file} does what it says`, async () => {
    assert.match(await runProgram(`documented/${file}`, server.url), printed);
    assert.equal(service.requests.length, requests);
  });
}

test("msw.ts does the same with MSW 2", async () => {
  const text = await readFile(new URL("msw.ts", folder), "utf8");
  await writeFile(
    new URL("old/msw.ts", folder),
    text.replaceAll('from "msw', 'from "msw-2').replace("onUnhandledFrame", "onUnhandledRequest"),
  );
  assert.equal(await runProgram("documented/old/msw.ts", server.url), "");
});

// npm installs AI SDK 6 on Node 20, and 7 where Node is newer.
test("aiSdk.ts does the same with AI SDK 6, as npm installs it on Node 20, and on this Node", async () => {
  const text = stripTypeScriptTypes(await readFile(new URL("aiSdk.ts", folder), "utf8"));
  await writeFile(new URL("old/aiSdk.mjs", folder), text.replaceAll('from "ai"', 'from "ai-6"'));
  for (const node of [node20, process.execPath]) {
    service.reset();
    assert.match(
      await runProgram("documented/old/aiSdk.mjs", server.url, {}, node),
      expected["aiSdk.ts"]?.[0] ?? /^$/,
    );
    assert.equal(service.requests.length, 1);
  }
});

test("no documented file is left out", async () => {
  const files = (await readdir(folder)).filter((name) => name.endsWith(".ts"));
  // openTelemetry.test.ts and engines.test.ts run the others.
  const engines = "bullmqFailed dbos inngest pgBoss restate triggerDev workflow".split(" ");
  const others = [...engines, "callSpans", "langchainTool", "mastra"].map((name) => `${name}.ts`);
  const run = [...Object.keys(expected), ...others];
  assert.deepEqual(files.sort(), run.sort());
});
