import { getEventListeners } from "node:events";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { operations } from "../../src/generated/contract.js";
import type { StatusError } from "../../src/index.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { root } from "../support/project.js";
import { type Script, useRecordingServer } from "../support/recordingServer.js";
import { done, goodText, silence } from "../support/responses.js";
import { isPending, soon, turns } from "../support/turns.js";

const server = useRecordingServer();
const clock = useTestClock();
const rerank = { query: "q", documents: ["d"] };
const reason = new Error("the user went away");

/** Lets a call's time pass, and fails when the call ends before it is up. A timer may fire a millisecond early. */
async function failureAfter(ms: number, running: Promise<StatusError>): Promise<StatusError> {
  clock.pass(ms - 2);
  expect(await isPending(running)).toBe(true);
  clock.pass(2);
  return running;
}

describe.each(transports)("over $name", ({ options }) => {
  const scale = (given: object, more: object = {}) =>
    failureOf(() => connect(server.url, { ...options, ...more }).deployments.scale("prod", 1, given));

  describe.each<[what: string, script: Script, executed: string, httpStatus?: number]>([
    ["headers", silence, "unknown"],
    [
      "the body",
      (_request, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.write('{"object":');
        return undefined;
      },
      "yes",
      200,
    ],
  ])("a call whose %s never come", (_what, script, executed, httpStatus) => {
    const ended = async (given: object, end: (running: Promise<StatusError>) => unknown) => {
      let closed: Promise<void> | undefined;
      server.reply((request, response) => {
        closed = new Promise((resolve) => response.on("close", resolve));
        return script(request, response);
      });
      const running = scale(given);
      await server.received();
      await server.responseRead();
      await end(running);
      await soon(closed as Promise<void>, "the connection is closed");
      const error = await running;
      expect(error).toMatchObject({ codeSource: "client", executed });
      expect(error.httpStatus).toBe(httpStatus);
      return error;
    };

    test("ends at its deadline, and closes its connection", async () => {
      const error = await ended({ timeoutMs: 100 }, (running) => failureAfter(100, running));
      expect(error.code).toBe("DEADLINE_EXCEEDED");
      expect(error.message).toContain("timeoutMs");
    });

    test("ends when it is aborted, with the reason as its cause, and closes its connection", async () => {
      const controller = new AbortController();
      const error = await ended({ signal: controller.signal }, () => controller.abort(reason));
      expect([error.code, error.cause]).toEqual(["CANCELLED", reason]);
    });
  });

  test("the client's timeoutMs counts, and a call's wins over it", async () => {
    server.reply(silence);
    const own = scale({ timeoutMs: 30 }, { timeoutMs: 60_000 });
    await server.received();
    expect((await failureAfter(30, own)).message).toContain("30 ms");
    const patient = scale({}, { timeoutMs: 40 });
    await server.received(2);
    expect((await failureAfter(40, patient)).message).toContain("40 ms");
  });

  test("a call's attemptTimeoutMs counts, not the client's", async () => {
    server.reply(silence);
    const failed = scale({ attemptTimeoutMs: 700 }, { timeoutMs: 60_000, attemptTimeoutMs: 40_000 });
    await server.received();
    await clock.passWhenWaiting(700);
    expect(await failed).toMatchObject({ code: "DEADLINE_EXCEEDED", codeSource: "client" });
    expect((await failed).text).toContain("attemptTimeoutMs");
  });

  test("the deadline counts from the call's first line, not from its request", async () => {
    server.reply(silence);
    let open = (_bytes: ArrayBuffer): void => {};
    const slow = new Promise<ArrayBuffer>((resolve) => {
      open = resolve;
    });
    const body = Object.assign(new Blob(["{}"]), { arrayBuffer: () => slow });
    const request = { method: "POST", path: "/v1/files", body, contentType: "text/plain" } as const;
    const failed = failureOf(() => connect(server.url, options).request(request, { timeoutMs: 30_000 }));
    await turns();
    clock.pass(20_000);
    open(new ArrayBuffer(2));
    await server.received();
    clock.pass(10_000);
    expect(await isPending(failed)).toBe(false);
    expect(await failed).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "unknown" });
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

  test("by the clock of the machine a call whose response never comes does not end before its time", async () => {
    clock.remove();
    server.reply(silence);
    const started = performance.now();
    expect((await scale({ timeoutMs: 50 })).code).toBe("DEADLINE_EXCEEDED");
    expect(performance.now() - started).toBeGreaterThanOrEqual(48);
  });

  test("a call that was aborted before it began opens no connection", async () => {
    const error = await scale({ signal: AbortSignal.abort(reason) });
    expect(error).toMatchObject({ code: "CANCELLED", executed: "no", inferred: true, attempts: [] });
    expect([error.cause, server.connections]).toEqual([reason, 0]);
  });

  test("a key that arrives after the call was aborted sends nothing", async () => {
    const controller = new AbortController();
    let give = (_key: string): void => {};
    const apiKey = () => new Promise<string>((resolve) => (give = resolve));
    const running = scale({ signal: controller.signal }, { apiKey });
    controller.abort(reason);
    expect(await running).toMatchObject({ code: "CANCELLED", executed: "no", attempts: [], cause: reason });
    give("late-key");
    // What was sent before this response has arrived before it.
    await fetch(`${server.url}/after`, { headers: { connection: "close" } });
    expect(server.only.url).toBe("/after");
  });

  test("no listener stays on the signal after a success, a failure, an abort and a deadline", async () => {
    clock.remove();
    const controller = new AbortController();
    const { signal } = controller;
    const abort: Script = () => void controller.abort();
    for (const reply of [done, { status: 404, json: {} }, silence, abort]) {
      server.reply(reply);
      const call = connect(server.url, options).deployments.scale("prod", 1, { signal, timeoutMs: 100 });
      await call.catch(() => {});
      expect(getEventListeners(signal, "abort")).toEqual([]);
    }
    expect(signal.aborted).toBe(true);
  });

  test("a signal ends the other calls also after one of its calls has ended", async () => {
    const controller = new AbortController();
    const client = connect(server.url, options);
    server.reply(silence);
    const failed = failureOf(() => client.rerank(rerank, { signal: controller.signal }));
    await server.received();
    server.reply(done);
    await client.rerank(rerank, { signal: controller.signal });
    controller.abort();
    expect(await isPending(failed)).toBe(false);
    expect(await failed).toMatchObject({ code: "CANCELLED", executed: "unknown" });
  });
});

describe("the documents", () => {
  const {
    rerankDocuments,
    resumeReinforcementFineTuningJob: job,
    scaleDeployment,
    uploadDatasetFile,
  } = operations;
  const [rerank, resume, scale, upload] = [rerankDocuments, job, scaleDeployment, uploadDatasetFile].map(
    ({ timeoutMs }) => `${timeoutMs / 1000} s`,
  );
  const rate = `${(uploadDatasetFile.bytesPerSecond ?? 0) / 1024} KiB`;

  // All of the places that name the default deadlines.
  test.each([
    [
      "README.md",
      `rerank ${rerank}, resume and scale ${resume}, upload ${upload} plus a second for each ${rate}`,
    ],
    [
      "docs/guide/retries.md",
      `rerank ${rerank}; resume and scale ${resume}; upload ${upload} + 1 s for each ${rate}`,
    ],
    ["docs/guide/rerank.md", `Its deadline is ${rerank}`],
    ["docs/guide/resume.md", `The deadline of a resume is ${resume}`],
    ["docs/guide/scale.md", `\`timeoutMs\` (${scale})`],
    ["docs/guide/upload.md", `The deadline is ${upload} plus a second for each ${rate}`],
  ])("%s names the deadlines of the contract", (file, text) => {
    const words = readFileSync(path.join(root, file), "utf8").replace(/\s*\n\s*\*?\s*/g, " ");
    expect(words).toContain(text);
  });
});
