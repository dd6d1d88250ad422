import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { operations } from "../../src/generated/contract.js";
import type { Client, StatusError } from "../../src/index.js";
import { connect, failureOf, operationCalls, transports } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { root } from "../support/project.js";
import { type Script, useRecordingServer } from "../support/recordingServer.js";
import { done, goodText } from "../support/responses.js";
import { isPending } from "../support/turns.js";

describe("a deadline", () => {
  const server = useRecordingServer();
  const clock = useTestClock();
  const timeoutMs = 100;

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

  /** Lets a call's time pass, and fails when the call ends before it is up. A timer may fire a millisecond early. */
  async function failureAfter(ms: number, running: Promise<StatusError>): Promise<StatusError> {
    clock.pass(ms - 2);
    expect(await isPending(running)).toBe(true);
    clock.pass(2);
    return running;
  }

  describe.each(transports)("over $name", ({ options }) => {
    const scale = (client: Client, callOptions: object) =>
      failureOf(() => client.deployments.scale("prod", 1, callOptions));

    describe.each(operationCalls)("$operation", ({ operation, call }) => {
      test.each(stalled)("ends at its deadline when %s never come", async (_what, script, details) => {
        server.reply(script);
        const running = failureOf(() => call(connect(server.url, options), { timeoutMs }));
        await server.received();
        await server.responseRead();
        const error = await failureAfter(timeoutMs, running);
        expect(error).toMatchObject({
          code: "DEADLINE_EXCEEDED",
          inferred: true,
          codeSource: "client",
          operation,
          ...details,
        });
        expect(error.message).toContain("timeoutMs");
        expect(server.requests).toHaveLength(1);
      });
    });

    test("a body that trickles in does not put the deadline off", async () => {
      let trickle = (): void => {};
      server.reply((_request, response) => {
        response.writeHead(200);
        trickle = () => void response.write(" ");
        return undefined;
      });
      const running = scale(connect(server.url, options), { timeoutMs });
      await server.received();
      for (let passed = 0; passed < timeoutMs - 10; passed += 10) {
        trickle();
        await server.responseRead();
        clock.pass(10);
      }
      trickle();
      await server.responseRead();
      expect(await failureAfter(10, running)).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "yes" });
    });

    test("the client's timeoutMs counts, and a call's wins over it", async () => {
      server.reply(() => undefined);
      const client = connect(server.url, { ...options, timeoutMs: 60_000 });
      const own = scale(client, { timeoutMs: 30 });
      await server.received();
      expect((await failureAfter(30, own)).message).toContain("30 ms");
      const patient = scale(client.withOptions({ timeoutMs: 40 }), {});
      await server.received(2);
      expect((await failureAfter(40, patient)).message).toContain("40 ms");
    });

    test("the deadline covers an apiKey function that never responds, and nothing is sent", async () => {
      let asked = (): void => {};
      const asking = new Promise<void>((resolve) => {
        asked = resolve;
      });
      const apiKey = () => {
        asked();
        return new Promise<string>(() => {});
      };
      const running = scale(connect(server.url, { ...options, apiKey }), { timeoutMs: 30 });
      await asking;
      const error = await failureAfter(30, running);
      expect(error).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "no", attempts: [] });
      expect(server.requests).toEqual([]);
    });

    test("a deadline longer than a timer can hold does not end the call at once", async () => {
      let respond = (): void => {};
      server.reply((_request, response) => {
        respond = () => void response.end(goodText);
        return undefined;
      });
      const running = connect(server.url, options).deployments.scale("prod", 1, { timeoutMs: 2 ** 40 });
      await server.received();
      // What Node's timers take, and more: a longer one would fire at once.
      await clock.passWhenWaiting(2 ** 31 - 1);
      clock.pass(2 ** 31);
      respond();
      await running;
      expect(server.requests).toHaveLength(1);
    });

    test("the connection of a call that ran out of time is closed", async () => {
      const closed = new Promise<void>((resolve) => {
        server.reply((_request, response) => {
          response.on("close", resolve);
          return undefined;
        });
      });
      const running = scale(connect(server.url, options), { timeoutMs: 30 });
      await server.received();
      clock.pass(30);
      await running;
      await closed;
    });
  });

  describe.each(transports)("over $name, by the clock of the machine,", ({ options }) => {
    test("a call whose response never comes ends, not before its time", async () => {
      clock.remove();
      server.reply(() => undefined);
      const started = performance.now();
      const client = connect(server.url, options);
      const error = await failureOf(() => client.deployments.scale("prod", 1, { timeoutMs: 50 }));
      expect(error.code).toBe("DEADLINE_EXCEEDED");
      expect(performance.now() - started).toBeGreaterThanOrEqual(48);
      server.reply(done);
      await client.deployments.scale("prod", 1);
    });
  });
});

describe("the documents", () => {
  const { timeoutMs: rerank } = operations.rerankDocuments;
  const { timeoutMs: resume } = operations.resumeReinforcementFineTuningJob;
  const { timeoutMs: scale } = operations.scaleDeployment;
  const { timeoutMs: upload, bytesPerSecond = 0 } = operations.uploadDatasetFile;
  const rate = `${bytesPerSecond / 1024} KiB`;
  const seconds = (ms: number): string => `${ms / 1000} s`;
  const thousands = (ms: number): string => ms.toLocaleString("en-US");

  // The places that name the default deadlines: all of them, as the contract has them.
  const places: readonly (readonly [file: string, text: string])[] = [
    [
      "README.md",
      `rerank ${seconds(rerank)}, resume and scale ${seconds(resume)}, upload ${seconds(upload)} plus a second for each ${rate}`,
    ],
    [
      "docs/guide/retries.md",
      `rerank ${seconds(rerank)}; resume and scale ${seconds(resume)}; upload ${seconds(upload)} + 1 s for each ${rate}`,
    ],
    ["docs/guide/rerank.md", `Its deadline is ${seconds(rerank)}`],
    ["docs/guide/resume.md", `The deadline of a resume is ${seconds(resume)}`],
    ["docs/guide/scale.md", `\`timeoutMs\` (${seconds(scale)})`],
    ["docs/guide/upload.md", `The deadline is ${seconds(upload)} plus a second for each ${rate}`],
    [
      "src/options/types.ts",
      `rerank ${thousands(rerank)}; resume and scale ${thousands(resume)}; upload ${thousands(upload)} + 1,000 for each ${rate}`,
    ],
  ];

  test.each(places)("%s names the deadlines of the contract", (file, text) => {
    const words = readFileSync(path.join(root, file), "utf8").replace(/\s*\n\s*\*?\s*/g, " ");
    expect(words).toContain(text);
  });

  test("resume and scale have the same deadline, as those texts say", () => {
    expect(scale).toBe(resume);
  });
});
