import { once } from "node:events";
import { chmod, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { connect, failureOf } from "../support/clients.js";
import { outcomeOf, start, tunerank } from "../support/commandLine.js";
import { temporaryFolder } from "../support/project.js";
import { textOf } from "../support/withHint.js";

// Likely first mistakes: each reads like advice.
test("a file that is not there, is a folder, may not be read, or is too large", async () => {
  const { folder, remove } = await temporaryFolder();
  onTestFinished(remove);
  const [none = "", mine = "", large = ""] = ["none", "private", "large"].map((name) =>
    path.join(folder, name),
  );
  await writeFile(mine, "{}\n");
  await chmod(mine, 0);
  await chmod(folder, 0o755);
  await writeFile(large, "");
  await truncate(large, 150 * 1024 * 1024 + 1);
  const advice = async (file: string): Promise<string[]> => {
    const error = await failureOf(() => connect("http://127.0.0.1:9").datasets.upload("reviews", file));
    expect(error).toMatchObject({ executed: "no", executedBecause: "nothing-sent" });
    return [textOf(error), error.hint];
  };
  const shown = (file: string): string => `[INVALID_ARGUMENT] file ${JSON.stringify(file)}`;
  const where = `(looked for in ${JSON.stringify(process.cwd())})`;
  expect(await advice(none)).toEqual([`${shown(none)} does not exist ${where}.`, ""]);
  expect(await advice(folder)).toEqual([`${shown(folder)} is a folder: pass the path of one file.`, ""]);
  // The superuser may read everything.
  if (process.getuid?.() === 0) process.seteuid?.(65_534);
  const closed = await advice(mine).finally(() => process.getuid?.() === 0 && process.seteuid?.(0));
  expect(closed).toEqual([`${shown(mine)} may not be read by this user.`, ""]);
  expect(await advice(large)).toEqual([
    "[OUT_OF_RANGE] The file has 157286401 bytes; one request takes at most 157286400 (150 MB).",
    "Larger files need another operation of the service, which this client does not have: ask whoever runs it.",
  ]);
});

describe("the mock server", () => {
  type Mock = ReturnType<typeof start>;
  const running: Mock[] = [];

  afterEach(async () => {
    for (const mock of running.splice(0)) {
      mock.kill("SIGINT");
      if (mock.exitCode === null) await once(mock, "exit");
    }
  });

  /** Starts the mock server; its address, what it says on stderr, and how it ends. */
  async function mockWith(...args: string[]) {
    const mock = start(["mock", "--port", "0", ...args]);
    running.push(mock);
    const outcome = outcomeOf(mock);
    const [line] = (await once(mock.stdout as NonNullable<Mock["stdout"]>, "data")) as [Buffer];
    const url = /http:\/\/[^\s;"]+/.exec(`${line}`)?.[0] ?? "";
    const stop = async () => {
      mock.kill("SIGINT");
      return (await outcome).stderr;
    };
    return { url, stop };
  }

  const rerank = (url: string, body: object, headers = {}) =>
    fetch(`${url}/inference/v1/rerank`, {
      method: "POST",
      headers: { authorization: "Bearer any", "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const body = { query: "q", documents: ["d"] };

  test("--fail scripts failures, --strict refuses unknown fields, and each request has a line", async () => {
    const { url, stop } = await mockWith(
      "--fail",
      "rerank:503x2",
      "--fail",
      "scaleDeployment:RESOURCE_EXHAUSTED",
      "--strict",
    );
    const statuses = [];
    for (let at = 0; at < 3; at++) statuses.push((await rerank(url, body)).status);
    statuses.push((await rerank(url, { ...body, unknown: 1 })).status);
    expect(statuses).toEqual([503, 503, 200, 400]);
    const scaled = await tunerank(["scale", "prod", "1", "--max-retries", "0"], { baseUrl: url });
    expect(scaled.stderr).toContain("[RESOURCE_EXHAUSTED]");
    const lines = (await stop()).trim().split("\n");
    expect(lines.map((line) => line.replace(/\d+ ms/, "N ms"))).toEqual([
      "POST /inference/v1/rerank 503 N ms req-1",
      "POST /inference/v1/rerank 503 N ms req-2",
      "POST /inference/v1/rerank 200 N ms req-3",
      "POST /inference/v1/rerank 400 N ms req-4",
      "PATCH /v1/accounts/acme/deployments/prod:scale 429 N ms req-5",
    ]);
  });

  test("--fail takes a Retry-After, and --delay sends every response late, failures too", async () => {
    const { url, stop } = await mockWith("--fail", "rerank:429x2,retry-after=5", "--delay", "20ms");
    const responses = [];
    for (let at = 0; at < 3; at++) responses.push(await rerank(url, body));
    expect(responses.map(({ status, headers }) => [status, headers.get("retry-after")])).toEqual([
      [429, "5"],
      [429, "5"],
      [200, null],
    ]);
    for (const [, ms] of (await stop()).matchAll(/ (\d+) ms /g))
      expect(Number(ms)).toBeGreaterThanOrEqual(19);
  });

  test("--host, --allow-origin and --json: it listens elsewhere, for one more origin, and its lines are JSON", async () => {
    const more = ["--host", "0.0.0.0", "--allow-origin", "https://app.example.com", "--json"];
    const { url, stop } = await mockWith(...more);
    const local = `http://127.0.0.1:${new URL(url).port}`;
    const allowed = async (origin: string) =>
      (await rerank(local, body, { origin })).headers.get("access-control-allow-origin");
    expect(await allowed("https://app.example.com")).toBe("https://app.example.com");
    expect(await allowed("http://localhost:5173")).toBe("http://localhost:5173");
    expect(await allowed("https://evil.example.com")).toBeNull();
    const [line = ""] = (await stop()).split("\n");
    expect(JSON.parse(line)).toMatchObject({ method: "POST", status: 200, requestId: "req-1" });
  });
});
