import { Agent as NodeAgent } from "node:http";
import { createServer } from "node:net";
import {
  Agent,
  type Dispatcher,
  errors,
  getGlobalDispatcher,
  interceptors,
  MockAgent,
  Pool,
  setGlobalDispatcher,
} from "undici";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ClientOptions } from "../../src/index.js";
import { createTransport as createWebTransport } from "../../src/platform/web.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf, operationCalls, thrownBy } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { reset, silence } from "../support/responses.js";
import { ending, serving } from "../support/servers.js";
import { turns, until } from "../support/turns.js";
import { expectNothingUnhandled } from "../support/unhandled.js";

const server = useRecordingServer();
expectNothingUnhandled();
const agent = (): Agent => ending(new Agent());

describe("a client with a dispatcher", () => {
  test.each(operationCalls)("sends $operation through it", async ({ call, method, path }) => {
    const seen: unknown[] = [];
    const composed = agent().compose((dispatch) => (options, handler) => {
      seen.push(`${options.method} ${options.path}`);
      return dispatch(options, handler);
    });
    await call(connect(server.url, { dispatcher: composed }));
    expect(seen).toEqual([`${method} ${path}`]);
    const headers = { authorization: `Bearer ${canaryKey}` };
    expect(server.only).toMatchObject({ method, url: path, headers });
  });

  test("leaves it open when it is closed", async () => {
    const pool = new Pool(server.url);
    const client = connect(server.url, { dispatcher: pool });
    await client.deployments.scale("prod", 0);
    await client.close();
    expect([pool.closed, pool.destroyed]).toEqual([false, false]);
    const response = await pool.request({ path: "/", method: "POST" });
    expect(response.statusCode).toBe(200);
    await pool.destroy();
  });

  test("says of one that was closed that it cannot be used, and nothing was sent", async () => {
    const pool = new Pool(server.url);
    await pool.close();
    const error = await failureOf(() =>
      connect(server.url, { dispatcher: pool }).deployments.scale("prod", 0),
    );
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
    expect(error.message).toContain("Make a client with a dispatcher that is open, and call again.");
    expect(server.requests).toEqual([]);
  });
});

describe("what undici says of a proxy and of a mock", () => {
  test("a 407 for a request that no tunnel is needed for is the proxy's", async () => {
    const refused = new errors.InvalidArgumentError("Proxy Authentication Required (407)");
    const composed = agent().compose(() => (_options, handler) => {
      handler.onRequestStart?.({ abort() {} } as never, {});
      handler.onResponseError?.({} as never, refused);
      return true;
    });
    const error = await failureOf(() =>
      connect(server.url, { dispatcher: composed }).deployments.scale("prod", 0),
    );
    expect(error).toMatchObject({ code: "UNAUTHENTICATED", executed: "no", httpStatus: 407 });
    expect(error.attempts).toHaveLength(1);
    expect(error.message).toContain("put its user name and password in the proxy's address");
  });

  test.each([
    ["ECONNRESET", "unknown", 1],
    ["ECONNREFUSED", "no", 3],
  ])("a mocked %s has the meaning of a real one", async (code, executed, attempts) => {
    const mocks = new MockAgent();
    const failure = Object.assign(new Error(code), { code });
    mocks
      .get(server.url)
      .intercept({ path: () => true, method: "POST" })
      .replyWithError(failure)
      .persist();
    const client = connect(server.url, { dispatcher: mocks, maxRetries: 2 });
    const error = await failureOf(() => client.reinforcementFineTuningJobs.resume("job-1"));
    expect(error).toMatchObject({ code: "UNAVAILABLE", executed });
    expect(error.attempts).toHaveLength(attempts);
    await mocks.close();
  });
});

test("a runtime that sends with fetch has no dispatcher", () => {
  const error = thrownBy(() => createWebTransport({ dispatcher: agent() } as never));
  expect(error.message).toContain("dispatcher is for Node: this runtime sends with fetch.");
});

test("the time to connect is the dispatcher's, and cannot be changed for some calls", () => {
  const client = connect(server.url, { dispatcher: agent() });
  const error = thrownBy(() => client.withOptions({ connectTimeoutMs: 5 } as object));
  expect(error.message).toContain("cannot change connectTimeoutMs: the connections are shared.");
});

describe("the doubles of tests", () => {
  // An address of this machine that does not say so.
  const outside = () => server.url.replace("127.0.0.1", "0.0.0.0");

  // As undici 7 sets it; undici 8 sets the second, with a wrapper as the first. checks/runtimes has all of them.
  const second = Symbol.for("undici.globalDispatcher.2");
  const globals = globalThis as Record<symbol, unknown>;

  describe.each(["first", "second"])("a MockAgent of undici as the %s of the global dispatchers", (place) => {
    let mocks: MockAgent;
    const before = getGlobalDispatcher();
    const secondBefore = globals[second];
    beforeEach(() => {
      mocks = new MockAgent();
      mocks.disableNetConnect();
      if (place === "first") setGlobalDispatcher(mocks);
      else globals[second] = mocks;
    });
    afterEach(async () => {
      setGlobalDispatcher(before);
      globals[second] = secondBefore;
      await mocks.close();
    });

    test.each(operationCalls)(
      "responds to $operation, which reaches nobody",
      async ({ call, method, path }) => {
        const response = { id: "", object: "", data: [{ index: 0, relevance_score: 0.5 }] };
        mocks.get(outside()).intercept({ path, method }).reply(200, response);
        await call(connect(outside(), { allowInsecureHttp: true }));
        mocks.assertNoPendingInterceptors();
        expect(server.requests).toEqual([]);
      },
    );

    test("that has no response for a call lets it reach nobody", async () => {
      const client = connect(outside(), { allowInsecureHttp: true, maxRetries: 2 });
      const error = await failureOf(() => client.rerank({ query: "q", documents: ["d"] }));
      const facts = { code: "INTERNAL", executed: "no", executedBecause: "nothing-sent", attempts: [] };
      expect(error).toMatchObject(facts);
      const text = "The mock has no response for this request: Mock dispatch not matched";
      expect(error.message).toContain(text);
      expect(error.message).toContain("Prepare one for its method, path and body.");
      expect(server.requests).toEqual([]);
    });

    test("leaves alone what goes to this machine, and what has an agent of its own", async () => {
      const agent = new NodeAgent();
      await connect(server.url).deployments.scale("prod", 0);
      await connect(outside(), { allowInsecureHttp: true, agent }).deployments.scale("prod", 0);
      agent.destroy();
      expect(server.requests).toHaveLength(2);
    });

    test("that is turned off is none", async () => {
      mocks.deactivate();
      await connect(outside(), { allowInsecureHttp: true }).deployments.scale("prod", 0);
      expect(server.requests).toHaveLength(1);
    });
  });
});

describe("an interceptor", () => {
  type Interceptor = Dispatcher.DispatcherComposeInterceptor;
  const resume = (interceptor: Interceptor, more: ClientOptions = {}) => {
    const client = connect(server.url, { dispatcher: agent().compose(interceptor), timeoutMs: 500, ...more });
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

  test("that keeps a start to itself leaves open what became of a call without a response", async () => {
    server.reply(silence);
    const call = resume(silent);
    expect(await call()).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "unknown" });
    expect(server.requests).toHaveLength(1);
    // Nor when it was seen to do so.
    server.reply({ status: 404 });
    expect(await call()).toMatchObject({ code: "NOT_FOUND" });
    server.reply(silence);
    expect(await call()).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "unknown" });
  });

  test("that keeps a start to itself proves nothing by a reset: the first call is sent once", async () => {
    server.reply(reset);
    const error = await resume(silent, { maxRetries: 2 })();
    expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "unknown" });
    expect(error.attempts).toHaveLength(1);
    expect(server.requests).toHaveLength(1);
  });

  test("that keeps a start to itself hides no connection that never came about", async () => {
    const error = await resume(silent, { baseUrl: "http://127.0.0.1:1" })();
    expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "no" });
  });

  test.each([silent, (dispatch: Dispatcher["dispatch"]) => dispatch] as Interceptor[])(
    "leaves a reset in a first TLS handshake a proof that nothing was sent (%#)",
    async (interceptor) => {
      let connections = 0;
      const closing = createServer((socket) => {
        connections += 1;
        socket.once("data", () => socket.resetAndDestroy());
      });
      const baseUrl = `https://127.0.0.1:${await serving(closing)}`;
      const error = await resume(interceptor, { baseUrl, maxRetries: 1, timeoutMs: 10_000 })();
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
          fail();
        }) as never;
      server.reply(silence);
      const error = await resume(failing, { maxRetries: 2 })();
      expect(error).toMatchObject({ code: "INTERNAL", executed: "unknown" });
      expect(error.attempts).toHaveLength(1);
      expect(error.message).toContain("The dispatcher failed: The interceptor is wrong.");
      expect(server.requests).toHaveLength(1);
    },
  );

  const fail = (): never => {
    throw new TypeError("The interceptor is wrong.");
  };
  test.each<[how: string, interceptor: Interceptor, executed: string]>([
    ["throws", () => fail, "no"],
    // It may have sent the request before.
    ["is async, and rejects", () => (async () => fail()) as never, "unknown"],
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
