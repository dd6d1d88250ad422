import { Agent as NodeAgent } from "node:http";
import { Agent, errors, getGlobalDispatcher, MockAgent, Pool, setGlobalDispatcher } from "undici";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ClientOptions, createClient } from "../../src/index.js";
import { createTransport as createWebTransport } from "../../src/platform/web.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf, operationCalls, thrownBy } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { ending } from "../support/servers.js";
import { textOf } from "../support/withHint.js";

const server = useRecordingServer();

describe("a dispatcher", () => {
  const agent = (): Agent => ending(new Agent());
  const complete = { baseUrl: "https://api.example.com", apiKey: canaryKey };

  describe("a client with a dispatcher", () => {
    test.each(operationCalls)("sends $operation through it", async ({ call, method, path }) => {
      const seen: unknown[] = [];
      const composed = agent().compose((dispatch) => (options, handler) => {
        seen.push(`${options.method} ${options.path}`);
        return dispatch(options, handler);
      });
      await call(connect(server.url, { dispatcher: composed }));
      expect(seen).toEqual([`${method} ${path}`]);
      expect(server.requests).toHaveLength(1);
      expect(server.requests[0]).toMatchObject({ method, url: path });
      expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${canaryKey}`);
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

  describe("before anything is sent", () => {
    test.each([
      ["agent", {}],
      ["proxy", "http://proxy.example.com:3128"],
      ["fetch", globalThis.fetch],
      ["keepAliveMs", 0],
      ["maxConnections", 1],
      ["connectTimeoutMs", 1000],
    ])("%s is refused beside a dispatcher", (name, value) => {
      const options = { ...complete, dispatcher: agent(), [name]: value } as ClientOptions;
      const error = thrownBy(() => createClient(options));
      expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
      expect(error.message).toContain(`dispatcher and ${name} cannot be used together: pass one of the two.`);
    });

    test.each([[{}], [null], [0], ["http://x"], [{ dispatch: 1 }], [() => {}]])(
      "%j is refused, for it does not have undici's dispatch",
      (dispatcher) => {
        const error = thrownBy(() => createClient({ ...complete, dispatcher } as unknown as ClientOptions));
        expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
        expect(textOf(error)).toMatch(/dispatcher must have the method dispatch of undici 7 or 8/);
      },
    );

    test("neither the dispatcher nor the time to connect can be changed for some calls", () => {
      const client = connect(server.url, { dispatcher: agent() });
      for (const changes of [{ dispatcher: agent() }, { connectTimeoutMs: 5 }]) {
        const error = thrownBy(() => client.withOptions(changes as ClientOptions));
        expect(error.message).toContain(
          `withOptions cannot change ${Object.keys(changes)[0]}: the connections are shared.`,
        );
      }
    });

    test("a runtime that sends with fetch has none", () => {
      const error = thrownBy(() => createWebTransport({ dispatcher: agent() } as never));
      expect(error.message).toContain("dispatcher is for Node: this runtime sends with fetch.");
    });
  });
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

    test.each(operationCalls)(
      "that has no response for $operation lets it reach nobody",
      async ({ call }) => {
        const error = await failureOf(() =>
          call(connect(outside(), { allowInsecureHttp: true, maxRetries: 2 })),
        );
        expect(error).toMatchObject({
          code: "INTERNAL",
          executed: "no",
          executedBecause: "nothing-sent",
        });
        expect(error.attempts).toEqual([]);
        expect(error.message).toContain(
          "The mock has no response for this request: Mock dispatch not matched",
        );
        expect(error.message).toContain("Prepare one for its method, path and body.");
        expect(server.requests).toEqual([]);
      },
    );

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
