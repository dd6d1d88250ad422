import { Agent } from "node:http";
import { getGlobalDispatcher, MockAgent, setGlobalDispatcher } from "undici";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { connect, failureOf, operationCalls } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
// An address of this machine that does not say so.
const outside = () => server.url.replace("127.0.0.1", "0.0.0.0");

// As undici 6 and 7 set it; undici 8 sets the second, with a wrapper as the first. checks/runtimes has all of them.
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

  test.each(operationCalls)("answers $operation, which reaches nobody", async ({ call, method, path }) => {
    const answer = { id: "", object: "", data: [{ index: 0, relevance_score: 0.5 }] };
    mocks.get(outside()).intercept({ path, method }).reply(200, answer);
    await call(connect(outside(), { allowInsecureHttp: true }));
    mocks.assertNoPendingInterceptors();
    expect(server.requests).toEqual([]);
  });

  test.each(operationCalls)("that has no answer for $operation lets it reach nobody", async ({ call }) => {
    const error = await failureOf(() => call(connect(outside(), { allowInsecureHttp: true, maxRetries: 2 })));
    expect(error).toMatchObject({
      code: "INTERNAL",
      executed: "no",
      executedBecause: "nothing-sent",
    });
    expect(error.attempts).toEqual([]);
    expect(error.message).toContain("The mock has no response for this request: Mock dispatch not matched");
    expect(error.message).toContain("Prepare one for its method, path and body.");
    expect(server.requests).toEqual([]);
  });

  test("answers an upload over fetch, of whose file it reads nothing", async () => {
    mocks
      .get(outside())
      .intercept({ path: () => true, method: "POST" })
      .reply(200, { id: "file-1" });
    if (place === "second") setGlobalDispatcher(mocks);
    const client = connect(outside(), { allowInsecureHttp: true, fetch: (url, init) => fetch(url, init) });
    const file = new Uint8Array(5_000_000);
    expect(await client.datasets.upload("reviews", file, { name: "n" })).toEqual({ id: "file-1" });
  });

  test("leaves alone what goes to this machine, and what has an agent of its own", async () => {
    const agent = new Agent();
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
