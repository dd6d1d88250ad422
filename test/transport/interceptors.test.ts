import { createServer } from "node:net";
import { Agent, type Dispatcher, interceptors, Pool } from "undici";
import { describe, expect, test } from "vitest";
import { connect, failureOf } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { ending, serving } from "../support/servers.js";
import { turns, until } from "../support/turns.js";
import { expectNothingUnhandled } from "../support/unhandled.js";

const server = useRecordingServer();
expectNothingUnhandled();
const agent = (): Agent => ending(new Agent());

describe("an interceptor", () => {
  type Interceptor = Dispatcher.DispatcherComposeInterceptor;
  const resume = (interceptor: Interceptor) => {
    const client = connect(server.url, { dispatcher: agent().compose(interceptor), timeoutMs: 500 });
    return () => failureOf(() => client.reinforcementFineTuningJobs.resume("job-1"));
  };
  // Passes on all but the start.
  const silent: Interceptor = (dispatch) => (options, handler) =>
    dispatch(options, {
      onRequestStart() {},
      onResponseStart: (...given) => handler.onResponseStart?.(...given),
      onResponseData: (...given) => handler.onResponseData?.(...given),
      onResponseEnd: (...given) => handler.onResponseEnd?.(...given),
      onResponseError: (...given) => handler.onResponseError?.(...given),
    });

  test("that was seen to do so leaves open what became of all that follows", async () => {
    const call = resume(silent);
    server.reply({ status: 404 });
    expect(await call()).toMatchObject({ code: "NOT_FOUND" });
    server.reply(() => undefined);
    expect(await call()).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "unknown" });
  });

  test("that keeps a start to itself proves nothing by a reset: the first call is sent once", async () => {
    server.reply((request, response) => {
      response.socket?.resetAndDestroy();
      return void request;
    });
    const client = connect(server.url, { dispatcher: agent().compose(silent), maxRetries: 2 });
    const error = await failureOf(() => client.reinforcementFineTuningJobs.resume("job-1"));
    expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "unknown" });
    expect(error.attempts).toHaveLength(1);
    expect(server.requests).toHaveLength(1);
  });

  test("that keeps a start to itself leaves open what became of a first call without a response", async () => {
    server.reply(() => undefined);
    const call = resume(silent);
    expect(await call()).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "unknown" });
    expect(server.requests).toHaveLength(1);
  });

  test("that keeps a start to itself hides no connection that never came about", async () => {
    const client = connect("http://127.0.0.1:1", { dispatcher: agent().compose(silent) });
    const error = await failureOf(() => client.reinforcementFineTuningJobs.resume("job-1"));
    expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "no" });
  });

  test.each<[version: string, silently: Interceptor | undefined]>([
    ["one that keeps a start to itself", silent],
    ["none", undefined],
  ])(
    "a reset in a first TLS handshake is proof that nothing was sent, with %s",
    async (_what, interceptor) => {
      let connections = 0;
      const closing = createServer((socket) => {
        connections += 1;
        socket.once("data", () => socket.resetAndDestroy());
      });
      const url = `https://127.0.0.1:${await serving(closing)}`;
      const dispatcher = interceptor ? agent().compose(interceptor) : agent();
      const client = connect(url, { dispatcher, maxRetries: 1 });
      const error = await failureOf(() => client.reinforcementFineTuningJobs.resume("job-1"));
      expect([error.attempts.length, connections]).toEqual([2, 2]);
      expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "no", executedBecause: "nothing-sent" });
    },
  );

  test.each([silent, (dispatch: Dispatcher["dispatch"]) => dispatch] as Interceptor[])(
    "that fails after the request was sent is at fault, and proves nothing (%#)",
    async (inner) => {
      const failing: Interceptor = (dispatch) =>
        (async (options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) => {
          inner(dispatch)(options, handler);
          await until(() => server.requests.length === 1);
          throw new TypeError("The interceptor is wrong.");
        }) as never;
      server.reply(() => undefined);
      const client = connect(server.url, { dispatcher: agent().compose(failing), maxRetries: 2 });
      const error = await failureOf(() => client.reinforcementFineTuningJobs.resume("job-1"));
      expect(error).toMatchObject({ code: "INTERNAL", executed: "unknown" });
      expect(error.attempts).toHaveLength(1);
      expect(error.message).toContain("The dispatcher failed: The interceptor is wrong.");
      expect(server.requests).toHaveLength(1);
    },
  );

  test.each<[how: string, interceptor: Interceptor, executed: string]>([
    [
      "throws",
      () => () => {
        throw new TypeError("The interceptor is wrong.");
      },
      "no",
    ],
    // It may have sent the request before.
    [
      "is async, and rejects",
      () =>
        (async () => {
          throw new TypeError("The interceptor is wrong.");
        }) as never,
      "unknown",
    ],
  ])("that %s is at fault, not the service", async (_how, interceptor, executed) => {
    const error = await resume(interceptor)();
    expect(error).toMatchObject({ code: "INTERNAL", executed });
    expect(error.attempts).toHaveLength(executed === "no" ? 0 : 1);
    const what = executed === "no" ? "does not take the request" : "failed";
    expect(error.message).toContain(`The dispatcher ${what}: The interceptor is wrong.`);
  });

  test("may respond without a start, and fail without an error", async () => {
    const early: Interceptor = () => (_options, handler) => {
      const controller = { abort() {}, pause() {}, resume() {} } as never;
      handler.onResponseStart?.(controller, 404, {}, "Not Found");
      handler.onResponseEnd?.(controller, {});
      return true;
    };
    expect(await resume(early)()).toMatchObject({ code: "NOT_FOUND", httpStatus: 404 });
    const wordless: Interceptor = () => (_options, handler) => {
      handler.onResponseError?.(null as never, undefined as never);
      return true;
    };
    const error = await resume(wordless)();
    expect(error.message).toContain("The dispatcher does not say why.");
  });

  test("that keeps an end to itself, as dump does, has nothing sent of a call that ended in the queue", async () => {
    const queued = interceptors.dump();
    const pool = new Pool(server.url, { connections: 1 });
    const client = connect(server.url, { dispatcher: pool.compose(queued), maxRetries: 0 });
    let respond = () => {};
    server.reply((_request, response) => {
      respond = () => response.end("{}");
      return undefined;
    });
    const first = client.deployments.scale("prod", 1).catch(() => {});
    await until(() => server.requests.length === 1);
    const controller = new AbortController();
    const ended = failureOf(() =>
      client.reinforcementFineTuningJobs.resume("job-1", { signal: controller.signal }),
    );
    await turns();
    controller.abort();
    expect(await ended).toMatchObject({ code: "CANCELLED", executed: "no" });
    server.reply({ status: 404 });
    respond();
    await first;
    await failureOf(() => client.deployments.scale("other", 1));
    expect(server.requests.map(({ url }) => url)).toEqual([
      "/v1/accounts/acme/deployments/prod:scale",
      "/v1/accounts/acme/deployments/other:scale",
    ]);
    await pool.destroy();
  });
});
