import { describe, expect, test } from "vitest";
import { connect, failureOf, operationCalls, transports } from "./support/clients.js";
import { type Script, useRecordingServer } from "./support/recordingServer.js";

const server = useRecordingServer();
const timeoutMs = 100;
// How late a busy machine may be.
const toleranceMs = 250;

const stalled: readonly (readonly [what: string, script: Script, details: object])[] = [
  ["headers", () => undefined, { executed: "unknown" }],
  [
    "the body",
    (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"object":');
      return undefined;
    },
    { executed: "yes", httpStatus: 200 },
  ],
];

describe.each(transports)("over $name", ({ options }) => {
  describe.each(operationCalls)("$operation", ({ operation, call }) => {
    test.each(stalled)("ends at its deadline when %s never come", async (_what, script, details) => {
      server.reply(script);
      const started = performance.now();
      const error = await failureOf(() => call(connect(server.url, options), { timeoutMs }));
      const elapsed = performance.now() - started;
      expect(error).toMatchObject({
        code: "DEADLINE_EXCEEDED",
        inferred: true,
        codeSource: "client",
        operation,
        ...details,
      });
      expect(error.message).toContain("timeoutMs");
      expect(elapsed).toBeGreaterThanOrEqual(timeoutMs - 2);
      expect(elapsed).toBeLessThan(timeoutMs + toleranceMs);
      expect(server.requests).toHaveLength(1);
    });
  });

  test("a body that trickles in does not put the deadline off", async () => {
    let trickle: NodeJS.Timeout | undefined;
    server.reply((_request, response) => {
      response.writeHead(200);
      trickle = setInterval(() => response.write(" "), 10);
      return undefined;
    });
    try {
      const started = performance.now();
      const error = await failureOf(() =>
        connect(server.url, options).deployments.scale("prod", 1, { timeoutMs }),
      );
      expect(error).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "yes" });
      expect(performance.now() - started).toBeLessThan(timeoutMs + toleranceMs);
    } finally {
      clearInterval(trickle);
    }
  });

  test("the client's timeoutMs counts, and a call's wins over it", async () => {
    server.reply(() => undefined);
    const client = connect(server.url, { ...options, timeoutMs: 60_000 });
    const own = await failureOf(() => client.deployments.scale("prod", 1, { timeoutMs: 30 }));
    expect(own.message).toContain("30 ms");
    const patient = client.withOptions({ timeoutMs: 40 });
    expect((await failureOf(() => patient.deployments.scale("prod", 1))).message).toContain("40 ms");
  });

  test("the deadline covers an apiKey function that never answers, and nothing is sent", async () => {
    const client = connect(server.url, { ...options, apiKey: () => new Promise<string>(() => {}) });
    const error = await failureOf(() => client.deployments.scale("prod", 1, { timeoutMs: 30 }));
    expect(error).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "no", attempts: [] });
    expect(server.requests).toEqual([]);
  });

  test("a deadline longer than a timer can hold does not end the call at once", async () => {
    server.reply((_request, response) => {
      setTimeout(() => response.end("{}"), 20);
      return undefined;
    });
    const client = connect(server.url, options);
    await client.deployments.scale("prod", 1, { timeoutMs: 2 ** 40 });
    expect(server.requests).toHaveLength(1);
  });

  test("the connection of a call that ran out of time is closed", async () => {
    const closed = new Promise<void>((resolve) => {
      server.reply((_request, response) => {
        response.on("close", resolve);
        return undefined;
      });
    });
    await failureOf(() => connect(server.url, options).deployments.scale("prod", 1, { timeoutMs: 30 }));
    await closed;
  });
});
