import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { canaryKey } from "../support/canary.js";
import { tunerank } from "../support/commandLine.js";
import { temporaryFolder } from "../support/project.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
let folder: string;
let remove: () => Promise<void>;

beforeAll(async () => {
  ({ folder, remove } = await temporaryFolder());
});
afterAll(() => remove());

const run = (...args: string[]) =>
  tunerank(["request", ...args], { baseUrl: server.url, env: { TUNERANK_ACCOUNT_ID: undefined } });

test("GET prints the answer's JSON, indented", async () => {
  server.reply({ json: { name: "reviews\u009b31m", files: [] } });
  const args = ["GET", "/v1/my data:list", "--query", "page=2", "--query", "tag=a=b", "--query", "tag=c"];
  const { exitCode, stdout, stderr } = await run(...args);
  expect([exitCode, stderr]).toEqual([0, ""]);
  expect(stdout).toBe('{\n  "name": "reviews\\u009b31m",\n  "files": []\n}\n');
  expect(server.only).toMatchObject({ method: "GET", url: "/v1/my%20data:list?page=2&tag=a%3Db&tag=c" });
  expect(server.only.headers.authorization).toBe(`Bearer ${canaryKey}`);
});

test("JSON goes out as it was written, from the command line or a file", async () => {
  const json = '{"id": 9007199254740993}';
  const file = path.join(folder, "body.json");
  await writeFile(file, json);
  await run("POST", "/v1/x", "--body", json);
  await run("POST", "/v1/x", "--body-file", file);
  expect(server.requests.map(({ body }) => `${body}`)).toEqual([json, json]);
  expect(server.requests.map(({ headers }) => headers["content-type"])).toEqual(
    Array(2).fill("application/json"),
  );
});

test("any other file goes out under its type, also from the standard input", async () => {
  const input = new Uint8Array([0, 255, 10]);
  const args = ["request", "PUT", "/v1/x", "--body-file", "-", "--content-type", "application/octet-stream"];
  await tunerank(args, { baseUrl: server.url, input });
  expect([...server.only.body]).toEqual([...input]);
  expect(server.only.headers["content-type"]).toBe("application/octet-stream");
});

test("text and bytes are written as they are", async () => {
  server.reply({ headers: { "content-type": "text/csv" }, text: "a,b\n1,2" });
  expect((await run("GET", "/v1/x", "--accept", "text/csv")).stdout).toBe("a,b\n1,2");
  server.reply({ headers: { "content-type": "application/octet-stream" }, text: "\u0000raw" });
  expect((await run("GET", "/v1/x")).stdout).toBe("\u0000raw");
  expect(server.requests[0]?.headers.accept).toBe("text/csv");
});

test("an answer without a body says so on stderr", async () => {
  server.reply({ status: 204, text: "" });
  const { exitCode, stdout, stderr } = await run("DELETE", "/v1/x");
  expect([exitCode, stdout, stderr]).toEqual([0, "", "HTTP 204, without a body.\n"]);
});

test("for machines there is one JSON value with status, headers and data", async () => {
  server.reply({ status: 201, headers: { "x-request-id": "r-1" }, json: { a: 1 } });
  const { stdout } = await run("POST", "/v1/x", "--json");
  expect(JSON.parse(stdout)).toMatchObject({
    status: 201,
    headers: { "x-request-id": "r-1" },
    data: { a: 1 },
  });
  server.reply({ headers: { "content-type": "image/png" }, text: new Uint8Array([1, 2]) });
  expect(JSON.parse((await run("GET", "/v1/x", "--json")).stdout)).toMatchObject({
    status: 200,
    base64: "AQI=",
  });
});

test("a POST is repeated only with --repeatable", async () => {
  server.reply({ status: 502, headers: { "retry-after-ms": "1" }, text: "" });
  const { exitCode, stderr } = await run("POST", "/v1/x");
  expect(exitCode).toBe(8);
  expect(stderr).toContain("The operation may have run.");
  expect(server.requests).toHaveLength(1);
  await run("POST", "/v1/x", "--repeatable");
  expect(server.requests).toHaveLength(4);
});

test.each([
  ["a path without a slash", ["GET", "v1/x"], "PATH|path must"],
  ["a method that is none", ["FETCH", "/v1/x"], "method must be one of"],
  ["a query without a value", ["GET", "/v1/x", "--query", "page"], "--query must be NAME=VALUE"],
  ["a body that is not JSON", ["POST", "/v1/x", "--body", "{nope"], "--body is not JSON"],
  ["two bodies", ["POST", "/v1/x", "--body", "{}", "--body-file", "x"], "cannot be used together"],
  ["a file that is missing", ["POST", "/v1/x", "--body-file", "/no/such/file"], "--body-file cannot be read"],
  ["a type without a body", ["POST", "/v1/x", "--content-type", "text/plain"], "--content-type needs a body"],
  ["no bytes at all", ["GET", "/v1/x", "--max-bytes", "0"], "--max-bytes must be at least 1"],
])("%s is refused before anything is sent", async (_what, args, words) => {
  const { exitCode, stdout, stderr } = await run(...args);
  expect([exitCode, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(new RegExp(words));
  expect(server.requests).toEqual([]);
});
