import { once } from "node:events";
import { Agent, createServer as createSecureServer } from "node:https";
import { type AddressInfo, createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { certificate, certificateKey } from "./support/certificate.js";
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

// Node makes 1 ms of them, and warns.
const tooLongForTimers = [2 ** 31, 2 ** 32 + 1, 2 ** 53, Number.MAX_VALUE];

/** Notes the warnings of timers that overflow from now on; what it returns tells them. */
function noteOverflows(): () => readonly string[] {
  const names: string[] = [];
  const note = ({ name }: Error): void => void names.push(name);
  process.on("warning", note);
  return () => {
    process.off("warning", note);
    return names.filter((name) => name === "TimeoutOverflowWarning");
  };
}

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

  describe.each(tooLongForTimers)("of %d ms, longer than a timer can hold,", (ms) => {
    test.each(["timeoutMs", "attemptTimeoutMs", "connectTimeoutMs"])(
      "%s does not end the call at once",
      async (duration) => {
        const overflows = noteOverflows();
        server.reply((_request, response) => {
          setTimeout(() => response.end("{}"), 20);
          return undefined;
        });
        await connect(server.url, { ...options, [duration]: ms }).deployments.scale("prod", 1);
        expect(server.requests).toHaveLength(1);
        expect(overflows()).toEqual([]);
      },
    );

    test("timeoutMs leaves rerank.items its time", async () => {
      server.reply({ json: { data: [{ index: 0, relevance_score: 1 }] } });
      const client = connect(server.url, options);
      const ranked = client.rerank.items("q", ["a", "b"], { text: String, batchSize: 1, timeoutMs: ms });
      expect(await ranked).toHaveLength(2);
    });
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

test.each(tooLongForTimers)(
  "over node:http a connectTimeoutMs of %d waits for a TLS handshake that takes a while",
  async (connectTimeoutMs) => {
    const overflows = noteOverflows();
    const agent = new Agent({ ca: certificate });
    const slow = createServer((socket) => setTimeout(() => secure.emit("connection", socket), 50));
    const secure = createSecureServer({ cert: certificate, key: certificateKey }, (_request, response) => {
      response.end("{}");
    });
    await once(slow.listen(0, "127.0.0.1"), "listening");
    try {
      const url = `https://localhost:${(slow.address() as AddressInfo).port}`;
      const { attempts } = await connect(url, { agent, connectTimeoutMs })
        .deployments.scale("prod", 1)
        .withResponse();
      expect(attempts).toMatchObject([{ httpStatus: 200 }]);
      expect(overflows()).toEqual([]);
    } finally {
      agent.destroy();
      slow.close();
    }
  },
);
