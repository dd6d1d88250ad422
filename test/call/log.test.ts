import { afterEach, expect, test, vi } from "vitest";
import type { Client, ClientOptions, LogFunction, LoggerLike, LogRecord } from "../../src/index.js";
import { useNoBackoff } from "../support/backoff.js";
import { canaryKey } from "../support/canary.js";
import { connect } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { inTurn, unavailable } from "../support/responses.js";

const server = useRecordingServer();
useNoBackoff();

/** A logger of methods, and the lines that it is given. */
function recorder(): LoggerLike & { lines: [string, string][] } {
  const lines: [string, string][] = [];
  const method = (level: string) => (message: string) => void lines.push([level, message]);
  const [debug, info, warn, error] = [method("debug"), method("info"), method("warn"), method("error")];
  return { lines, debug, info, warn, error };
}

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const silenced = () => vi.spyOn(console, "error").mockImplementation(() => {});

/** What Node is asked to warn of. */
function warningsOfProcess(): unknown[] {
  const warnings: unknown[] = [];
  vi.spyOn(process, "emitWarning").mockImplementation((warning) => void warnings.push(warning));
  return warnings;
}

/** What a logger that is a function is given, the times left out. */
async function recordsOf(options: ClientOptions, call: (client: Client) => Promise<unknown>) {
  const records: [string, LogRecord][] = [];
  const logger: LogFunction = (level, { durationMs: _, ...record }) =>
    records.push([level, { ...record, message: withoutTime(record.message) } as LogRecord]);
  await call(connect(server.url, { ...options, logger }));
  await lineWritten();
  return records;
}

const withoutTime = (line: string) => line.replace(/ ms=\d+/, " ms=N");
const busyOnce = () => inTurn(unavailable, { headers: { "x-request-id": "r 2" }, json: {} });

/** What a logger of methods is given of one call, the times left out. */
async function linesOf(options: ClientOptions, call = scale): Promise<[string, string][]> {
  const logger = recorder();
  await call(connect(server.url, { maxRetries: 1, logger, ...options })).catch(() => {});
  await lineWritten();
  return logger.lines.map(([level, line]) => [level, withoutTime(line)]);
}

const scale = (client: Client): Promise<unknown> => client.deployments.scale("prod", 2);

/** Lines are written once their module is loaded, a moment after the attempt. */
const lineWritten = () => import("../../src/call/log.js").then(() => new Promise(setImmediate));

const target = "tunerank scaleDeployment PATCH /v1/accounts/acme/deployments/prod:scale";
const failed = `${target} attempt=1 status=503 code=UNAVAILABLE ms=N wait_ms=0`;
const succeeded = `${target} attempt=2 status=200 request_id="r 2" ms=N`;

const both = [
  ["warn", failed],
  ["info", succeeded],
];
test.each([
  [undefined, both],
  ["warn", both.slice(0, 1)],
  ["error", []],
  ["off", []],
] as const)("a logger is given one line an attempt, as far as logLevel %s goes", async (logLevel, lines) => {
  server.reply(busyOnce());
  expect(await linesOf({ logLevel })).toEqual(lines);
});

test("a logger that is a function is given the level, and the line with its fields", async () => {
  server.reply(busyOnce());
  const records = await recordsOf({ maxRetries: 1 }, scale);
  const [operation, method, path] = ["scaleDeployment", "PATCH", "/v1/accounts/acme/deployments/prod:scale"];
  const asked = { operation, method, path, account: "acme", deployment: "prod", replicaCount: 2 };
  const busy = { number: 1, httpStatus: 503, code: "UNAVAILABLE", executed: "unknown", waitMs: 0 };
  expect(records).toEqual([
    ["warn", { ...asked, ...busy, message: failed }],
    ["info", { ...asked, number: 2, httpStatus: 200, requestId: "r 2", message: succeeded }],
  ]);
});

test("fields have the length of a list and the name of a model, and no text that somebody wrote", async () => {
  server.reply({ json: { data: [{ index: 0, relevance_score: 1 }], usage: { total_tokens: 7 } } });
  const model = "accounts/acme/models/small";
  const texts = { query: "private", documents: ["secret", "b"], task: "hidden" };
  const body = { ...texts, top_n: 1, model, replicaCount: 9 };
  const [[, record] = []] = await recordsOf({}, (client) => client.rerank(body));
  expect(record).toMatchObject({ documents: 2, top_n: 1, model, tokens: 7 });
  expect(record).not.toHaveProperty("replicaCount");
  expect(JSON.stringify(record)).not.toMatch(/private|secret|hidden/);
});

test("the host, and what the network reported, are told with debug alone; bodies with logBodies alone", async () => {
  const [[, plain] = []] = await recordsOf({}, scale);
  for (const name of ["host", "request", "response"]) expect(plain).not.toHaveProperty(name);
  server.reply({ json: { ok: true } });
  const [[, full] = []] = await recordsOf({ logLevel: "debug", logBodies: true }, scale);
  const host = new URL(server.url).host;
  expect(full).toMatchObject({ host, request: '{"replicaCount":2}', response: '{"ok":true}' });
  const baseUrl = "http://127.0.0.1:1";
  const [[level, line] = [], ...others] = await linesOf({ baseUrl, logLevel: "debug", maxRetries: 0 });
  expect([level, others]).toEqual(["error", []]);
  expect(line).toMatch(/ code=UNAVAILABLE ms=N host=127\.0\.0\.1:1 cause=".*ECONNREFUSED.*"$/);
});

test("a logger that throws or rejects changes no call", async () => {
  for (const fail of [() => Promise.reject(new Error("full")), () => JSON.parse("{")]) {
    for (const logger of [fail, { debug: fail, info: fail, warn: fail, error: fail }])
      await scale(connect(server.url, { logger }));
    await lineWritten();
  }
  expect(server.requests).toHaveLength(4);
});

test("no body is logged unless logBodies asks for it, and then without the key and without a file", async () => {
  expect(JSON.stringify(await linesOf({ logLevel: "debug" }))).not.toContain("replicaCount");
  server.reply(({ headers }) => ({ json: { said: headers.authorization, text: "one\ntwo" } }));
  const [[, line] = []] = await linesOf({ logBodies: true });
  expect(line).toContain('request="{\\"replicaCount\\":2}"');
  expect(line).toContain("Bearer [redacted]");
  expect(line).not.toContain(canaryKey);
  expect(line).not.toContain("\n");
  const file = new TextEncoder().encode("the content");
  const upload = (client: Client) => client.datasets.upload("reviews", file, { name: "f" });
  const [[, uploaded] = []] = await linesOf({ logBodies: true }, upload);
  expect(uploaded).toContain("uploadDatasetFile");
  expect(uploaded).not.toContain("the content");
});

test.each(["info", "INFO", "Debug", " info", "info\n", "debug\r\n", "\ufeffinfo", "\tINFO "])(
  "a TUNERANK_LOG of %j, read at the first call, writes the lines to stderr",
  async (level) => {
    const stderr = silenced();
    const client = connect(server.url);
    vi.stubEnv("TUNERANK_LOG", level);
    await scale(client);
    await vi.waitFor(() => expect(stderr).toHaveBeenCalledOnce());
    const host = /debug/i.test(level) ? ` host=${new URL(server.url).host}` : "";
    expect(withoutTime(stderr.mock.calls[0]?.[0])).toBe(`${target} attempt=1 status=200 ms=N${host}`);
  },
);

test.each([
  ...["OFF", " off\n", " ", "\n", ""].map((level) => [level, {}] as const),
  ["info", { logLevel: "off" }] as const,
])("with a TUNERANK_LOG of %j and the options %j nothing is logged", async (level, options) => {
  const stderr = silenced();
  const warnings = warningsOfProcess();
  vi.stubEnv("TUNERANK_LOG", level);
  await scale(connect(server.url, options));
  await lineWritten();
  expect(stderr).not.toHaveBeenCalled();
  expect(warnings).toEqual([]);
});

test("a TUNERANK_LOG that is no level fails no call, and is warned of once in a process", async () => {
  const stderr = silenced();
  const warnings = warningsOfProcess();
  for (const level of ["true", "1", "verbose", "info debug"]) {
    vi.stubEnv("TUNERANK_LOG", level);
    const client = connect(server.url);
    await scale(client);
    await scale(client.withOptions({ accountId: "other" }));
  }
  await lineWritten();
  expect(server.requests).toHaveLength(8);
  expect(stderr).not.toHaveBeenCalled();
  expect(warnings).toEqual(["TUNERANK_LOG must be one of off, error, warn, info, debug."]);
});
