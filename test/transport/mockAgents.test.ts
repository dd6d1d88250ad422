import { Agent } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { connect, failureOf, operationCalls } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();

// As undici 6 and 7, and as undici 8 set it; checks/runtimes has the libraries themselves.
const names = ["undici.globalDispatcher.1", "undici.globalDispatcher.2"] as const;
const globals = globalThis as Record<symbol, unknown>;

class Mocks {
  active = true;
  get isMockActive(): boolean {
    return this.active;
  }
}

describe.each(names)("a MockAgent of undici as %s", (name) => {
  const mocks = new Mocks();
  const symbol = Symbol.for(name);
  let before: unknown;
  // An address of this machine that does not say so.
  const outside = () => server.url.replace("127.0.0.1", "0.0.0.0");
  beforeEach(() => {
    mocks.active = true;
    before = globals[symbol];
    globals[symbol] = mocks;
  });
  afterEach(() => {
    if (before === undefined) delete globals[symbol];
    else globals[symbol] = before;
  });

  test.each(operationCalls)("lets $operation reach nobody, since it would not see it", async ({ call }) => {
    const error = await failureOf(() => call(connect(outside(), { allowInsecureHttp: true })));
    expect(error).toMatchObject({
      code: "INVALID_ARGUMENT",
      executed: "no",
      executedBecause: "nothing-sent",
    });
    expect(error.attempts).toEqual([]);
    expect(error.message).toContain("MockAgent");
    expect(error.hint).toMatch(/\bfetch\b.*tunerank\/testing/);
    expect(server.requests).toEqual([]);
  });

  test("leaves alone what goes to this machine, and what has an agent of its own", async () => {
    const agent = new Agent();
    await connect(server.url).deployments.scale("prod", 0);
    await connect(outside(), { allowInsecureHttp: true, agent }).deployments.scale("prod", 0);
    agent.destroy();
    expect(server.requests).toHaveLength(2);
  });

  test("that is turned off is none", async () => {
    mocks.active = false;
    await connect(outside(), { allowInsecureHttp: true }).deployments.scale("prod", 0);
    expect(server.requests).toHaveLength(1);
  });
});
