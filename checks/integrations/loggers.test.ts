import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { Writable } from "node:stream";
import { beforeEach, test } from "node:test";
import bunyan from "bunyan";
import pino from "pino";
import { isStatusError, type LogFunction } from "tunerank";
import winston from "winston";
import { connect, service } from "./support/service.ts";

type Line = Readonly<Record<string, unknown>>;

let written = "";
const stream = new Writable({
  write(chunk, _encoding, done) {
    written += chunk;
    done();
  },
});
beforeEach(() => {
  written = "";
});

const log = { pino: pino({}, stream), bunyan: bunyan.createLogger({ name: "shop", stream }) };
const toWinston = winston.createLogger({ transports: new winston.transports.Stream({ stream }) });

// As the guide has them.
const viaPino: LogFunction = (level, record) => log.pino[level](record, record.message);
const viaBunyan: LogFunction = (level, record) => log.bunyan[level](record, record.message);
const viaWinston: LogFunction = (level, { message, ...fields }) => toWinston.log(level, message, fields);
const viaConsole: LogFunction = (level, record) => console[level](JSON.stringify(record));

const loggers: readonly [name: string, LogFunction, message: string, levels: [unknown, unknown]][] = [
  ["pino", viaPino, "msg", [40, 30]],
  ["bunyan", viaBunyan, "msg", [40, 30]],
  ["winston", viaWinston, "message", ["warn", "info"]],
  ["console", viaConsole, "message", [undefined, undefined]],
];

for (const [name, logger, message, levels] of loggers) {
  test(`${name} has the operation, status, request id, duration and what was asked for as fields`, async (t) => {
    for (const level of ["warn", "info"] as const) {
      t.mock.method(console, level, (line: string) => stream.write(`${line}\n`));
    }
    service.fail("scale", { code: "UNAVAILABLE", retryAfter: 0 });
    const client = connect({ logger });
    await client.deployments.scale("prod", 3);
    await client.rerank({ query: "a secret question", documents: ["a", "b"], top_n: 1 });
    await client.datasets.upload("reviews", new Blob(["{}\n"]), { name: "train.jsonl" });
    const [retried, scaled, ranked, uploaded] = await lines(t, 4);
    const scale = { operation: "scaleDeployment", account: "acme", deployment: "prod", replicaCount: 3 };
    has(retried, { ...scale, number: 1, httpStatus: 503, code: "UNAVAILABLE", executed: "unknown" });
    assert.equal(typeof retried?.durationMs, "number");
    assert.match(String(retried?.[message]), /^tunerank scaleDeployment PATCH .* status=503 /);
    assert.equal(String(retried?.[message]).split("tunerank").length, 2);
    has(scaled, { ...scale, number: 2, httpStatus: 200, executed: undefined });
    assert.match(String(scaled?.requestId), /^req-/);
    assert.deepEqual([retried?.level, scaled?.level], levels);
    const rerank = { operation: "rerankDocuments", documents: 2, top_n: 1, tokens: 8 };
    has(ranked, rerank);
    has(uploaded, { operation: "uploadDatasetFile", dataset: "reviews" });
    assert.doesNotMatch(written, /a secret question|test-key/);
  });
}

test("pino and bunyan call a logged error by its public name", async () => {
  service.fail("scale", { code: "NOT_FOUND" });
  const error = await connect()
    .deployments.scale("prod", 1)
    .catch((thrown: unknown) => thrown);
  assert.ok(isStatusError(error));
  log.pino.error(error);
  log.bunyan.error(error);
  const [ofPino, ofBunyan] = written.trim().split("\n").map(parsed);
  assert.equal(new Map(Object.entries(ofPino?.err ?? {})).get("type"), "StatusError");
  assert.equal(new Map(Object.entries(ofBunyan?.err ?? {})).get("name"), "StatusError");
});

test("the guide has these lines", async () => {
  const page = await readFile(new URL("../../docs/guide/observing.md", import.meta.url), "utf8");
  for (const logger of [viaPino, viaWinston, viaConsole]) {
    const line = String(logger).replace("log.pino", "log").replace("toWinston", "log");
    assert.ok(page.includes(`const logger: LogFunction = ${line};`), line);
  }
});

/** The lines, once that many are written. */
async function lines(t: test.TestContext, count: number): Promise<Line[]> {
  await t.waitFor(() => assert.equal(written.trim().split("\n").length, count));
  return written.trim().split("\n").map(parsed);
}

const parsed = (line: string): Line => JSON.parse(line);

function has(line: Line | undefined, fields: Line): void {
  for (const [name, value] of Object.entries(fields)) assert.deepEqual(line?.[name], value, name);
}
