import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { runProgram } from "./support/program.ts";
import { firstBody, server, service } from "./support/service.ts";

const folder = new URL("documented/", import.meta.url);

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

test("aiSdkFailure.ts tells of the last of its two requests", async () => {
  service.fail("rerank", { code: "UNAVAILABLE", times: 3, retryAfter: 0 });
  assert.equal(await runProgram("documented/aiSdkFailure.ts", server.url), "UNAVAILABLE unknown\n");
  assert.equal(service.requests.length, 2);
  assert.equal(firstBody().task, "Find the page that helps.");
});

test("no documented file is left out", async () => {
  const files = (await readdir(folder)).filter((name) => name.endsWith(".ts"));
  // openTelemetry.test.ts runs callSpans.ts.
  const run = [...Object.keys(expected), "aiSdkFailure.ts", "callSpans.ts"];
  assert.deepEqual(files.sort(), run.sort());
});
