import { afterEach, expect, test, vi } from "vitest";
import type { Client, ClientOptions, LogFunction, LoggerLike, LogRecord } from "../../src/index.js";
import { useNoBackoff } from "../support/backoff.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf, thrownBy } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { inTurn, unavailable } from "../support/responses.js";

const server = useRecordingServer();
useNoBackoff();

function recorder(): LoggerLike & { lines: [string, string][] } {
  const lines: [string, string][] = [];
  const method = (level: string) => (message: string) => void lines.push([level, message]);
  const [debug, info, warn, error] = [method("debug"), method("info"), method("warn"), method("error")];
  return { lines, debug, info, warn, error };
}

afterEach(() => {
  vi.unstubAllEnvs();
  for (const spy of spies.splice(0)) spy.mockRestore();
});

const spies: { mockRestore(): void }[] = [];
function silenced(method: "error" | "info") {
  const spy = vi.spyOn(console, method).mockImplementation(() => {});
  spies.push(spy);
  return spy;
}

/** What Node is asked to warn of. */
function warningsOfProcess(): unknown[] {
  const warnings: unknown[] = [];
  const spy = vi.spyOn(process, "emitWarning").mockImplementation((warning) => void warnings.push(warning));
  spies.push(spy);
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

async function linesOf(options: ClientOptions): Promise<[string, string][]> {
  const logger = recorder();
  server.reply(busyOnce());
  await connect(server.url, { maxRetries: 1, logger, ...options }).deployments.scale("prod", 2);
  await lineWritten();
  return logger.lines.map(([level, line]) => [level, withoutTime(line)]);
}

/** Lines are written once their module is loaded, a moment after the attempt. */
const lineWritten = () => import("../../src/call/log.js").then(() => new Promise(setImmediate));

const target = "tunerank scaleDeployment PATCH /v1/accounts/acme/deployments/prod:scale";
const failed = `${target} attempt=1 status=503 code=UNAVAILABLE ms=N wait_ms=0`;
const succeeded = `${target} attempt=2 status=200 request_id="r 2" ms=N`;

test("a logger is given one line an attempt", async () => {
  expect(await linesOf({})).toEqual([
    ["warn", failed],
    ["info", succeeded],
  ]);
});

test.each([
  ["off", []],
  ["error", []],
  ["warn", [["warn", failed]]],
] as const)("logLevel %s leaves out what is of less weight", async (logLevel, lines) => {
  expect(await linesOf({ logLevel })).toEqual(lines);
});

test("a logger that is a function is given the level, and the line with its fields", async () => {
  server.reply(busyOnce());
  const records = await recordsOf({ maxRetries: 1 }, (client) => client.deployments.scale("prod", 2));
  const [operation, method] = ["scaleDeployment", "PATCH"];
  const path = "/v1/accounts/acme/deployments/prod:scale";
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
  const body = {
    query: "private",
    documents: ["secret", "b"],
    task: "hidden",
    top_n: 1,
    model,
    replicaCount: 9,
  };
  const [[, record] = []] = await recordsOf({}, (client) => client.rerank(body));
  expect(record).toMatchObject({ documents: 2, top_n: 1, model, tokens: 7 });
  expect(record).not.toHaveProperty("replicaCount");
  expect(JSON.stringify(record)).not.toMatch(/private|secret|hidden/);
});

test("fields have the host and what the network reported with debug alone, and bodies with logBodies alone", async () => {
  const scale = (client: Client) => client.deployments.scale("prod", 2);
  const [[, plain] = []] = await recordsOf({}, scale);
  expect(Object.keys(plain ?? {}).filter((name) => ["host", "request", "response"].includes(name))).toEqual(
    [],
  );
  server.reset();
  server.reply({ json: { ok: true } });
  const [[, full] = []] = await recordsOf({ logLevel: "debug", logBodies: true }, scale);
  expect(full).toMatchObject({
    host: new URL(server.url).host,
    request: '{"replicaCount":2}',
    response: '{"ok":true}',
  });
});

test("a logger that throws or rejects changes no call", async () => {
  for (const fail of [() => Promise.reject(new Error("full")), () => JSON.parse("{")]) {
    for (const logger of [fail, { debug: fail, info: fail, warn: fail, error: fail }])
      await connect(server.url, { logger }).deployments.scale("prod", 2);
    await lineWritten();
  }
  expect(server.requests).toHaveLength(4);
});

test("debug adds the host, and what the network reported", async () => {
  const logger = recorder();
  const client = connect("http://127.0.0.1:1", { logger, logLevel: "debug" });
  await failureOf(() => client.deployments.scale("prod", 2));
  await lineWritten();
  expect(logger.lines).toHaveLength(1);
  expect(logger.lines[0]?.[0]).toBe("error");
  expect(logger.lines[0]?.[1]).toMatch(
    / code=UNAVAILABLE ms=\d+ host=127\.0\.0\.1:1 cause=".*ECONNREFUSED.*"$/,
  );
});

test("no body is logged unless logBodies asks for it, and then without the key", async () => {
  expect(JSON.stringify(await linesOf({ logLevel: "debug" }))).not.toContain("replicaCount");
  const logger = recorder();
  server.reset();
  server.reply(({ headers }) => ({ json: { said: headers.authorization, text: "one\ntwo" } }));
  await connect(server.url, { logger, logBodies: true }).deployments.scale("prod", 2);
  await lineWritten();
  const [[, line = ""] = []] = logger.lines;
  expect(line).toContain('request="{\\"replicaCount\\":2}"');
  expect(line).toContain("Bearer [redacted]");
  expect(line).not.toContain(canaryKey);
  expect(line).not.toContain("\n");
});

test("a file is left out of what logBodies adds", async () => {
  const logger = recorder();
  const file = new TextEncoder().encode("the content");
  await connect(server.url, { logger, logBodies: true }).datasets.upload("reviews", file, { name: "f" });
  await lineWritten();
  expect(logger.lines[0]?.[1]).toContain("uploadDatasetFile");
  expect(logger.lines[0]?.[1]).not.toContain("the content");
});

test("TUNERANK_LOG writes the lines to stderr, read at the first call", async () => {
  const stderr = silenced("error");
  const client = connect(server.url);
  vi.stubEnv("TUNERANK_LOG", "info");
  await client.deployments.scale("prod", 2);
  await vi.waitFor(() => expect(stderr).toHaveBeenCalledOnce());
  expect(withoutTime(stderr.mock.calls[0]?.[0])).toBe(`${target} attempt=1 status=200 ms=N`);
});

test("logLevel goes before TUNERANK_LOG", async () => {
  const stderr = silenced("error");
  vi.stubEnv("TUNERANK_LOG", "info");
  await connect(server.url, { logLevel: "off" }).deployments.scale("prod", 2);
  await lineWritten();
  expect(stderr).not.toHaveBeenCalled();
});

test.each(["INFO", "Debug", " info", "info\n", "debug\r\n", "\ufeffinfo", "\tINFO "])(
  "a TUNERANK_LOG of %j is the level in another case or between blanks",
  async (level) => {
    const stderr = silenced("error");
    vi.stubEnv("TUNERANK_LOG", level);
    await connect(server.url).deployments.scale("prod", 2);
    await vi.waitFor(() => expect(stderr).toHaveBeenCalledOnce());
  },
);

test.each(["OFF", " off\n", " ", "\n", ""])("with a TUNERANK_LOG of %j nothing is logged", async (level) => {
  const stderr = silenced("error");
  const warnings = warningsOfProcess();
  vi.stubEnv("TUNERANK_LOG", level);
  await connect(server.url).deployments.scale("prod", 2);
  await lineWritten();
  expect(stderr).not.toHaveBeenCalled();
  expect(warnings).toEqual([]);
});

test("a TUNERANK_LOG that is no level fails no call, and is warned of once in a process", async () => {
  const stderr = silenced("error");
  const warnings = warningsOfProcess();
  for (const level of ["true", "1", "verbose", "info debug"]) {
    vi.stubEnv("TUNERANK_LOG", level);
    const client = connect(server.url);
    await client.deployments.scale("prod", 2);
    await client.withOptions({ accountId: "other" }).deployments.scale("prod", 2);
  }
  await lineWritten();
  expect(server.requests).toHaveLength(8);
  expect(stderr).not.toHaveBeenCalled();
  expect(warnings).toEqual(["TUNERANK_LOG must be one of off, error, warn, info, debug."]);
});

test.each([
  [{ logger: {} }, "logger must have the methods"],
  [{ logLevel: "DEBUG" }, "logLevel must be one of off, error, warn, info, debug"],
  [{ logBodies: "yes" }, "logBodies must be true or false"],
])("%j is refused at once", (options, words) => {
  expect(thrownBy(() => connect(server.url, options as never)).message).toContain(words);
});
