import { mock } from "node:test";
import { afterEach, describe, expect, test } from "vitest";
import { connect } from "../support/clients.js";
import { answer, useCountingServer } from "../support/countingServer.js";
import { runScript } from "../support/script.js";
import { turns, until } from "../support/turns.js";

const server = useCountingServer();
afterEach(() => mock.timers.reset());

// As node:test does, Vitest before 3, Jest with `doNotFake: ["performance"]` and sinon with such a list.
describe("under a clock of a test that leaves performance alone", () => {
  test("a wait for a retry ends when the test moves the clock", async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    server.listen((request, response) => {
      request.resume();
      response.writeHead(429, { "retry-after": "30" }).end();
    });
    const waits: (number | undefined)[] = [];
    const client = connect(server.url, { maxRetries: 2, onAttempt: ({ waitMs }) => waits.push(waitMs) });
    const running = client.deployments.scale("prod", 1, { timeoutMs: 120_000 });
    await until(() => waits.length === 1);
    mock.timers.tick(29_000);
    server.listen(answer);
    await new Promise((resolve) => setImmediate(resolve));
    expect(server.used).toHaveLength(1);
    mock.timers.tick(5_000);
    await running;
    expect(server.used).toHaveLength(2);
  });

  test("a deadline ends the call when the test moves the clock, also after a retry", async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    server.listen((request, response) => {
      request.resume();
      response.writeHead(503).end();
    });
    const waits: (number | undefined)[] = [];
    const client = connect(server.url, { maxRetries: 1, onAttempt: ({ waitMs }) => waits.push(waitMs) });
    const running = client.deployments.scale("prod", 1, { timeoutMs: 30_000 }).catch((error) => error);
    await until(() => waits.length === 1);
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
  server.listen(answer);
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
  expect(now() - performance.now()).toSatisfy(
    (movedMs: number) => Math.abs(movedMs - Math.round(movedMs)) < 0.1,
  );
  await new Promise<void>((resolve) => void after(1, resolve));
});
