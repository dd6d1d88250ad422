import { readFile } from "node:fs/promises";
import { afterEach, expect, test } from "vitest";
import { ask } from "../support/ask.js";
import { tunerank } from "../support/commandLine.js";
import { next, post, type Runner, startRunner } from "../support/conformance/runner.js";
import { useTemporaryFile } from "../support/temporaryFile.js";

const file = useTemporaryFile(new Uint8Array());
const running: Runner[] = [];
afterEach(async () => {
  for (const { child, outcome } of running.splice(0)) {
    child.kill("SIGKILL");
    await outcome;
  }
});

async function runner(...args: string[]): Promise<Runner> {
  const started = await startRunner(...args);
  running.push(started);
  return started;
}

const success = "retries/success-at-once/scaleDeployment";

test("what differs is told row by row, and the exit code is 1", async () => {
  const { url, outcome } = await runner("--only", "retries/key-in-message/rerank");
  const row = await next(url);
  await fetch(`${row.baseUrl}/wrong`, { method: "POST", body: "[]" });
  const [status, said] = await post(url, {
    id: row.id,
    code: "UNKNOWN",
    executed: "yes",
    attempts: 2,
    retryAfterMs: 5,
    message: `no ${row.apiKey}`,
    notRetried: "budget",
  });
  expect([status, said.result]).toEqual([200, "failed"]);
  expect(said.differences).toEqual([
    'request 1: path: "/wrong" instead of "/inference/v1/rerank"',
    "request 1: Authorization is not the Bearer key that is due",
    expect.stringMatching(/^request 1: content type: "text\/plain.* instead of "application\/json"$/),
    "attempts: 2 instead of 1",
    'code: "UNKNOWN" instead of "INVALID_ARGUMENT"',
    "retryAfterMs: 5 instead of none",
    'executed: "yes" instead of "no"',
    'notRetried: "budget" instead of "refused"',
    expect.stringMatching(/^message: .* does not hold "Not valid: "$/),
    "the posted outcome contains the key",
  ]);
  const { exitCode, stderr } = await outcome;
  expect(exitCode).toBe(1);
  expect(stderr).toContain("1 of 1 test case failed.");
});

test("a response that some operations take is compared as it was sent, be it another than the usual one", async () => {
  const { url, outcome } = await runner("--only", "retries/incomplete-other/resume");
  const row = await next(url);
  const response = await fetch(
    `${row.baseUrl}/v1/accounts/acme/reinforcementFineTuningJobs/answer-quality:resume`,
    {
      method: "POST",
      headers: { authorization: `Bearer ${row.apiKey}`, "content-type": "application/json" },
      body: "{}",
    },
  );
  expect(await response.json()).toEqual({ message: "maintenance" });
  const [, said] = await post(url, { id: row.id, value: {}, attempts: 1 });
  expect(said.differences).toEqual(["value: message not as in the response"]);
  expect((await outcome).exitCode).toBe(1);
});

test("a bad outcome is refused with a reason, and the row stays open", async () => {
  const { url, child } = await runner("--only", success);
  expect(await post(url, { id: success, value: {} })).toEqual([
    400,
    { error: expect.stringMatching(/is not under way: GET \/next gives rows/) },
  ]);
  await next(url);
  const bad: readonly (readonly [unknown, RegExp])[] = [
    ["{", /^The body is not a JSON object\.$/],
    ["[]", /^The body is not a JSON object\.$/],
    [{ value: 1 }, /^id is missing/],
    [{ id: "retries/nothing", value: 1 }, /^retries\/nothing is not under way/],
    [{ id: success }, /has one of value, values, code and skipped; this one has none/],
    [{ id: success, value: 1, code: "UNKNOWN" }, /this one has value, code/],
    [{ id: success, code: "UNKNOWN" }, /^executed is missing\.$/],
    [
      { id: success, code: "UNKNOWN", executed: "maybe", attempts: 1 },
      /^executed must be no, unknown or yes\.$/,
    ],
    [{ id: success, code: "UNKNOWN", executed: "no", attempts: -1 }, /^attempts must be a whole number/],
    [{ id: success, value: 1, retry_after_ms: 1 }, /^There is no member "retry_after_ms"/],
    [{ id: success, skipped: "upload" }, /cannot be skipped for upload: it needs nothing\.$/],
  ];
  for (const [outcome, reason] of bad) {
    const [status, said] = await post(url, outcome);
    expect([status, said.error]).toEqual([400, expect.stringMatching(reason)]);
  }
  expect((await fetch(`${url}/elsewhere`)).status).toBe(404);
  expect((await fetch(`${url}/outcome`)).status).toBe(405);
  // As a program of Windows writes it.
  const [, said] = await post(url, `\ufeff{\r\n  "id": "${success}",\r\n  "value": {}\r\n}\r\n`);
  expect(said).toMatchObject({ result: "failed", differences: ["requests: 0 instead of 1"] });
  expect(child.exitCode).toBe(null);
  const [status, again] = await post(url, { id: success, value: {} });
  expect([status, again.error]).toEqual([400, expect.stringMatching(/each takes one outcome\.$/)]);
});

test("a row that needs what a client lacks is counted as skipped, never as passed", async () => {
  const { url, outcome, report } = await runner("--only", "retries/status-401-fresh-key/uploadDatasetFile");
  const row = await next(url);
  expect(row.needs).toEqual(["key-function", "upload"]);
  expect(row.apiKeys).toHaveLength(2);
  await post(url, { id: row.id, skipped: "key-function" });
  const { exitCode, stderr } = await outcome;
  expect(exitCode).toBe(1);
  expect(stderr).toContain("Every test case was skipped: nothing is certified.");
  expect(await report()).toMatchObject({ passed: 0, skipped: 1, skippedFor: { "key-function": 1 } });
});

test("what comes for another Host or from a web page of another origin takes no row and posts no outcome", async () => {
  const { url, outcome, report } = await runner("--only", "retries/success-at-once/", "--timeout", "3");
  const { port } = new URL(url);
  const foreign: readonly Record<string, string>[] = [
    { host: "evil.example.com" },
    // It begins like this machine's.
    { host: "127.0.0.1.evil.test:4020" },
    { origin: "https://evil.example.com" },
    // Of a sandboxed page.
    { origin: "null" },
    // A page that sends no Origin.
    { "sec-fetch-site": "cross-site" },
  ];
  for (const headers of foreign) expect((await ask(`${url}/next`, { headers }))[0]).toBe(403);
  const { id } = await next(url);
  const body = JSON.stringify({ id, value: {} });
  for (const headers of foreign)
    expect((await ask(`${url}/outcome`, { method: "POST", headers, body }))[0]).toBe(403);
  const ours: readonly Record<string, string>[] = [
    { origin: "http://localhost:5173", "sec-fetch-site": "cross-site" },
    { host: `localhost:${port}` },
    { host: `[::1]:${port}` },
  ];
  for (const headers of ours) expect((await ask(`${url}/next`, { headers }))[0]).toBe(200);
  const { stderr } = await outcome;
  expect(stderr.match(/"refused":"It came (for another Host|from a web page)/g)).toHaveLength(10);
  expect((await report()).rows[0]).toMatchObject({ id, differences: ["no outcome was posted"] });
});

test("--list names each row once, with what it needs", async () => {
  const [lines, json] = await Promise.all([
    tunerank(["conformance", "--list"]),
    tunerank(["conformance", "--list", "--json"]),
  ]);
  const rows = JSON.parse(json.stdout) as { id: string; needs: string[] }[];
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  expect(lines.stdout.trimEnd().split("\n")).toHaveLength(rows.length);
  expect(rows.find(({ id }) => id === "retries/status-421/rerankDocuments")?.needs).toEqual(["status-421"]);
});

test("a client that stops responding ends the run: what it did not do is named, and the badge is never green", async () => {
  const args = ["--only", "retries/success-at-once/", "--timeout", "2", "--badge", file];
  const { url, outcome, report } = await runner(...args);
  const row = await next(url);
  const { operation, id, apiKey } = row;
  expect(operation).toBe("resumeReinforcementFineTuningJob");
  const response = await fetch(
    `${row.baseUrl}/v1/accounts/acme/reinforcementFineTuningJobs/answer-quality:resume`,
    {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: "{}",
    },
  );
  const [, said] = await post(url, { id, value: await response.json(), attempts: 1 });
  expect(said.result).toBe("passed");
  const second = await next(url);
  const { exitCode, stderr } = await outcome;
  expect(exitCode).toBe(1);
  expect(stderr).toContain(
    `No request from the client for 2 s, so the run ended; no outcome was posted of ${second.id}.`,
  );
  const found = await report();
  expect(found).toMatchObject({ passed: 1, failed: 1, skipped: 0, neverServed: 2 });
  expect(found.rows[1]).toMatchObject({ result: "failed", differences: ["no outcome was posted"] });
  expect(found.rows.slice(2)).toMatchObject(Array(2).fill({ result: "never served" }));
  const svg = await readFile(file, "utf8");
  expect(svg).toContain("1 failed, 1 passed, 2 never served");
  expect(svg).not.toContain("#1a7f37");
});
