import { mock } from "node:test";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { connect, transports } from "../support/clients.js";
import { respond, useCountingServer } from "../support/countingServer.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { goodText } from "../support/responses.js";
import { runScript } from "../support/script.js";
import { turns, until } from "../support/turns.js";

describe("the longest timers", () => {
  const server = useRecordingServer();

  // Node makes 1 ms of them, and warns.
  const tooLongForTimers = [2 ** 31, Number.MAX_VALUE];

  /** The names of the warnings from now on. */
  function noteWarnings(): readonly string[] {
    const names: string[] = [];
    const note = ({ name }: Error): void => void names.push(name);
    process.on("warning", note);
    onTestFinished(() => void process.off("warning", note));
    return names;
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
          const warnings = noteWarnings();
          server.reply((_request, response) => {
            setTimeout(() => response.end(goodText), 20);
            return undefined;
          });
          await connect(server.url, { ...options, [duration]: ms }).deployments.scale("prod", 1);
          expect(server.requests).toHaveLength(1);
          expect(warnings).not.toContain("TimeoutOverflowWarning");
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
});

describe("timers of somebody else", () => {
  const server = useCountingServer();
  afterEach(() => mock.timers.reset());

  // Connections that Node's fetch kept for earlier tests end meanwhile: a real timer that is not cleared then would find
  // nothing left of its connection, and end the process.
  function moveTime(): void {
    const { clearTimeout: clearReal } = globalThis;
    mock.timers.enable({ apis: ["setTimeout"] });
    const { clearTimeout: clearMocked } = globalThis;
    globalThis.clearTimeout = (timer) => {
      clearReal(timer);
      clearMocked(timer);
    };
  }

  // As node:test does, Vitest before 3, Jest with `doNotFake: ["performance"]` and sinon with such a list.
  describe("under a clock of a test that leaves performance alone", () => {
    /** A call that waits to be retried. */
    async function waiting(status: number, timeoutMs: number): Promise<{ running: Promise<unknown> }> {
      moveTime();
      server.listen((request, response) => {
        request.resume();
        response.writeHead(status, status === 429 ? { "retry-after": "30" } : {}).end();
      });
      const waits: unknown[] = [];
      const client = connect(server.url, { maxRetries: 1, onAttempt: ({ waitMs }) => waits.push(waitMs) });
      const running = client.deployments.scale("prod", 1, { timeoutMs }).catch((error: unknown) => error);
      await until(() => waits.length === 1);
      return { running };
    }

    test("a wait for a retry ends when the test moves the clock", async () => {
      const { running } = await waiting(429, 120_000);
      mock.timers.tick(29_000);
      server.listen(respond);
      await new Promise((resolve) => setImmediate(resolve));
      expect(server.used).toHaveLength(1);
      mock.timers.tick(5_000);
      expect(await running).toBeUndefined();
      expect(server.used).toHaveLength(2);
    });

    test("a deadline ends the call when the test moves the clock, also after a retry", async () => {
      const { running } = await waiting(503, 30_000);
      server.listen((request) => void request.resume());
      mock.timers.tick(1_000);
      await until(() => server.used.length === 2);
      // A timer that is set while the clock moves counts from where it stops.
      for (let passedMs = 0; passedMs < 60_000; passedMs += 1_000) {
        mock.timers.tick(1_000);
        await turns(2);
      }
      expect(await running).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "unknown" });
    });
  });

  test("timers that are numbers, as in a window of Electron, end no process", async () => {
    server.listen(respond);
    const script = `
    const { setTimeout: real, clearTimeout: clear } = globalThis;
    globalThis.setTimeout = (...given) => Number(real(...given));
    globalThis.clearTimeout = (timer) => clear(timer);
    const { createClient } = await import("./src/index.ts");
    const client = createClient({ baseUrl: process.env.URL, accountId: "a" });
    for (let i = 0; i < 3; i++) await client.rerank({ query: "q", documents: ["d"] });
    await client.datasets.upload("reviews", new Uint8Array(9), { name: "f" });
    await client.close();
  `;
    expect(await runScript(script, { URL: server.url })).toMatchObject({ exitCode: 0, stderr: "" });
    expect(server.used).toHaveLength(4);
  });

  test("a clock that a test has moved on stays exact", async () => {
    const { after, firedAt, now } = await import("../../src/transport/time.js");
    firedAt(now() + 1234.567);
    // The largest: on a busy machine time passes between the two clocks.
    const movedMs = Math.max(...Array.from({ length: 100 }, () => now() - performance.now()));
    expect(Math.abs(movedMs - Math.round(movedMs))).toBeLessThan(0.1);
    await new Promise<void>((resolve) => void after(1, resolve));
  });
});
