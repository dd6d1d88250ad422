import { once } from "node:events";
import { Agent, createServer as createSecureServer } from "node:https";
import { type AddressInfo, createServer } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { goodText } from "../support/answers.js";
import { certificate, certificateKey } from "../support/certificate.js";
import { connect, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();

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
  // After one fraction V8 compiles all of Node's timers again. Sums with a later clock leave fractions.
  test("the timer of a deadline is the time that was given", async () => {
    const now = vi.spyOn(performance, "now");
    const timers = vi.spyOn(globalThis, "setTimeout");
    onTestFinished(() => [now, timers].forEach((spy) => void spy.mockRestore()));
    server.reply({ text: goodText });
    for (let call = 0; call < 20; call++) {
      now.mockReturnValue(2_800 + call / 3);
      await connect(server.url, options).deployments.scale("prod", 1);
    }
    const set = timers.mock.calls.map(([, ms]) => ms);
    expect(set.length).toBeGreaterThanOrEqual(20);
    expect(set.filter((ms) => !Number.isInteger(ms))).toEqual([]);
  });

  describe.each(tooLongForTimers)("of %d ms, longer than a timer can hold,", (ms) => {
    test.each(["timeoutMs", "attemptTimeoutMs", "connectTimeoutMs"])(
      "%s does not end the call at once",
      async (duration) => {
        const overflows = noteOverflows();
        server.reply((_request, response) => {
          setTimeout(() => response.end(goodText), 20);
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
});

test.each(tooLongForTimers)(
  "over node:http a connectTimeoutMs of %d waits for a TLS handshake that takes a while",
  async (connectTimeoutMs) => {
    const overflows = noteOverflows();
    const agent = new Agent({ ca: certificate });
    const slow = createServer((socket) => setTimeout(() => secure.emit("connection", socket), 50));
    const secure = createSecureServer({ cert: certificate, key: certificateKey }, (_request, response) => {
      response.end(goodText);
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
