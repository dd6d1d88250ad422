import { once } from "node:events";
import { afterEach, expect, test } from "vitest";
import { outcomeOf, start, tunerank } from "../support/commandLine.js";

type Mock = ReturnType<typeof start>;
const running: Mock[] = [];

afterEach(async () => {
  for (const mock of running.splice(0)) {
    mock.kill("SIGINT");
    if (mock.exitCode === null) await once(mock, "exit");
  }
});

/** Starts the stand-in; its address, what it says on stderr, and how it ends. */
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

test("--host listens elsewhere, and says what that means", async () => {
  const { url, stop } = await mockWith("--host", "0.0.0.0", "--quiet");
  const port = new URL(url).port;
  expect((await rerank(`http://127.0.0.1:${port}`, body)).status).toBe(200);
  const said = await stop();
  expect(said).toMatch(/^Anybody who can reach this machine can call it.*allowInsecureHttp\.\n$/);
});

test("--allow-origin adds an origin to those of this machine", async () => {
  const { url } = await mockWith("--allow-origin", "https://app.example.com");
  const allowed = async (origin: string) =>
    (await rerank(url, body, { origin })).headers.get("access-control-allow-origin");
  expect(await allowed("https://app.example.com")).toBe("https://app.example.com");
  expect(await allowed("http://localhost:5173")).toBe("http://localhost:5173");
  expect(await allowed("https://evil.example.com")).toBeNull();
});

test("for machines the lines are JSON", async () => {
  const { url, stop } = await mockWith("--json");
  await rerank(url, body);
  expect(JSON.parse(await stop())).toMatchObject({ method: "POST", status: 200, requestId: "req-1" });
});

test.each([
  [["--fail", "rerank"], "--fail must be OPERATION:STATUS"],
  [["--fail", "rank:503"], "--fail must be OPERATION:STATUS"],
  [["--fail", "rerank:NOPE"], "code must be one of"],
  [["--allow-origin", "app.example.com"], "must hold origins"],
  [["--host", "256.0.0.1"], "cannot be listened on"],
])("%j is refused", async (args, words) => {
  const { exitCode, stdout, stderr } = await tunerank(["mock", "--port", "0", ...args]);
  expect([exitCode, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(words);
});
