import { inspect } from "node:util";
import { Agent } from "undici";
import { afterAll, describe, expect, test } from "vitest";
import { rerankAll } from "../../src/bulk/index.js";
import type { AttemptEvent, LogRecord } from "../../src/index.js";
import { canaryKey, leaksOf } from "../support/canary.js";
import { connect, failureOf, operationCalls, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { until } from "../support/turns.js";

const server = useRecordingServer();
const agent = new Agent();
afterAll(() => agent.destroy());
const ways = [...transports, { name: "a dispatcher", options: { dispatcher: agent as never } }];
const rerank = { query: "q", documents: ["d"] };

const sent = {
  "X-RateLimit-Remaining": "0",
  "CF-Ray": "ray-1",
  "WWW-Authenticate": 'Bearer realm="x"',
  "X-Echo": `Bearer ${canaryKey}`,
};
const shown = {
  "x-ratelimit-remaining": "0",
  "cf-ray": "ray-1",
  "www-authenticate": 'Bearer realm="x"',
  "x-echo": "Bearer [redacted]",
};

describe.each(ways)("over $name", ({ options }) => {
  test.each(operationCalls)("an error of $operation has the response's headers", async ({ call }) => {
    const events: AttemptEvent[] = [];
    const onAttempt = (event: AttemptEvent) => void events.push(event);
    server.reply({ status: 403, json: { message: "No." }, headers: sent });
    const error = await failureOf(() => call(connect(server.url, { ...options, onAttempt })));
    expect(error.headers).toMatchObject(shown);
    expect(error.attempts[0]?.headers).toMatchObject(shown);
    expect(events[0]?.headers).toMatchObject(shown);
    expect(leaksOf([error, events, error.headers])).toEqual([]);
  });

  test("nothing lists them: no message, no JSON, no console, no log", async () => {
    const records: LogRecord[] = [];
    const lines: string[] = [];
    const logger = (_level: string, record: LogRecord) => void records.push(record);
    const line = (text: string) => void lines.push(text);
    server.reply({ status: 403, json: { message: "No." }, headers: sent });
    const logged = [logger, { error: line, warn: line, info: line, debug: line }];
    let error: unknown;
    for (const each of logged) {
      const client = connect(server.url, { ...options, logger: each, logLevel: "debug", logBodies: true });
      error = await failureOf(() => client.rerank(rerank));
    }
    await until(() => records.length + lines.length === 2);
    const { attempts, message } = error as Awaited<ReturnType<typeof failureOf>>;
    expect(attempts[0]?.headers).toMatchObject(shown);
    for (const text of [
      message,
      inspect([error, attempts]),
      JSON.stringify([error, attempts, records]),
      ...lines,
    ]) {
      expect(text).not.toContain("ray-1");
    }
    expect(records[0]).not.toHaveProperty("headers");
  });

  test("an attempt that succeeded has them without the key", async () => {
    const events: AttemptEvent[] = [];
    const onAttempt = (event: AttemptEvent) => void events.push(event);
    const client = connect(server.url, { ...options, onAttempt });
    server.reply({ json: { data: [] }, headers: sent });
    await client.rerank(rerank);
    expect(events[0]?.headers).toMatchObject(shown);
    server.reply({ json: { data: [] }, headers: { "CF-Ray": "ray-1" } });
    const { attempts } = await client.rerank(rerank).withResponse();
    expect(attempts[0]?.headers).toMatchObject({ "cf-ray": "ray-1" });
  });

  test("they and the request id are those of a response that was lost, too", async () => {
    server.reply((_request, response) => {
      response.writeHead(200, { ...sent, "x-request-id": "req-3", "content-length": 100 });
      response.write("{", () => void response.destroy());
      return undefined;
    });
    const error = await failureOf(() => connect(server.url, options).rerank(rerank));
    expect(error).toMatchObject({ code: "INTERNAL", executed: "yes", httpStatus: 200, requestId: "req-3" });
    expect(error.headers).toMatchObject(shown);
    expect(error.message).toContain("Report it to whoever runs the service, with the request id req-3.");
  });
});

test("the events and errors of a bulk run have them", async () => {
  server.reply({ status: 400, json: { message: "No." }, headers: sent });
  const heard: unknown[] = [];
  const onAttempt = ({ headers }: AttemptEvent) => void heard.push(headers);
  for await (const { error } of rerankAll(connect(server.url), [{ id: "a", ...rerank }], { onAttempt })) {
    expect(error?.headers).toMatchObject(shown);
  }
  expect(heard).toMatchObject([shown]);
});
