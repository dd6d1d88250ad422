import { Agent } from "node:http";
import { getDefaultAutoSelectFamilyAttemptTimeout, Socket } from "node:net";
import { Agent as Dispatcher } from "undici";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { AttemptEvent, ClientOptions } from "../../src/index.js";
import { memberOf } from "../../src/values.js";
import { useNoBackoff } from "../support/backoff.js";
import { connect, failureOf, operationCalls } from "../support/clients.js";
import { useHostAddresses } from "../support/hostAddresses.js";
import { refusingPort } from "../support/refusingPort.js";
import { ending } from "../support/servers.js";
import { type SlowListener, slowListener } from "../support/slowListener.js";

// A name with two addresses: behind one nobody takes connections until the test says so, and the other refuses them.
const name = useHostAddresses();
useNoBackoff();
let slow: SlowListener;
beforeEach(async ({ skip }) => {
  slow = (await slowListener()) ?? skip("This system makes connections beyond a listener's backlog.");
  name.addresses = ["127.0.0.1", "::1"];
  name.atOnce = false;
});
afterEach(() => slow.close());

const platformMs = getDefaultAutoSelectFamilyAttemptTimeout();
const rerank = { query: "q", documents: ["d"] };

const toSlow = (options: ClientOptions = {}) =>
  connect(`http://${name.host}:${slow.port}`, { allowInsecureHttp: true, ...options });

// A rerank, and a resume, which is never sent twice.
test.each(operationCalls.slice(0, 2))(
  "$operation to a slow address before a dead one is sent by the second attempt",
  async ({ call }) => {
    // Long after the platform would end it, and before the system asks for the connection again.
    const wakeLater = () => setTimeout(slow.wake, platformMs + 200);
    const onAttempt = ({ number }: AttemptEvent) => number === 1 && wakeLater();
    const client = toSlow({ maxRetries: 2, connectTimeoutMs: 60_000, onAttempt });
    const { attempts } = await call(client).withResponse();
    expect(attempts).toHaveLength(2);
    // Its thread tells of it.
    await expect.poll(() => slow.requests).toBe(1);
  },
);

describe("the time of an address", () => {
  // The milliseconds for each address, by the options of each connection; the platform's without any.
  const timesOf = async (client = toSlow(), calls = 3): Promise<unknown[]> => {
    const { connect: original } = Socket.prototype;
    const given: unknown[] = [];
    // Read at once: an agent changes the options for its next connection.
    const connects = vi.spyOn(Socket.prototype, "connect").mockImplementation(function (
      this: Socket,
      ...args: unknown[]
    ) {
      given.push(memberOf(memberOf(args[0], "0") ?? args[0], time));
      return (original as (...given: unknown[]) => Socket).apply(this, args);
    });
    for (let i = 0; i < calls; i++) await failureOf(() => client.rerank(rerank));
    connects.mockRestore();
    return given.map((ms) => ms ?? platformMs);
  };
  const time = "autoSelectFamilyAttemptTimeout";

  test.each([
    ["http", "later", false],
    ["https", "at once", true],
  ])(
    "over %s, of a name found %s, is its share of connectTimeoutMs once an attempt ended for the platform's",
    async (protocol, _when, atOnce) => {
      name.atOnce = atOnce;
      const baseUrl = `${protocol}://${name.host}:${slow.port}`;
      expect(await timesOf(toSlow({ baseUrl, connectTimeoutMs: 1_200 }))).toEqual([platformMs, 600, 600]);
    },
  );

  test("is its share of a connectTimeoutMs that ended before the platform's", async () => {
    // Far from the platform's, as a busy program has its time to connect prolonged.
    const client = toSlow({ connectTimeoutMs: 60 });
    const early = "No connection within 60 ms. 1 of 2 addresses were tried, the last 127.0.0.1: no response.";
    expect((await failureOf(() => client.rerank(rerank))).message).toContain(early);
    expect(await timesOf(client.withOptions({ connectTimeoutMs: 60_000 }), 1)).toEqual([30]);
  });

  test("is the platform's with an agent of the caller's, which stays as it is", async () => {
    const agent = ending(new Agent({ keepAlive: true }));
    const { options } = agent as unknown as { options: object };
    const before = { ...options };
    expect(await timesOf(toSlow({ agent, connectTimeoutMs: 1_200 }), 2)).toEqual([platformMs, platformMs]);
    expect(options).toEqual(before);
  });

  test("is shared among a proxy's addresses the same way", async () => {
    const proxy = `http://${name.host}:${slow.port}`;
    const options = { proxy, connectTimeoutMs: 1_200, allowInsecureHttp: true };
    expect(await timesOf(connect("http://behind.test", options))).toEqual([platformMs, 600, 600]);
  });
});

describe("a name whose every address fails is told with their number and the last", () => {
  test.each([
    ["node:http", () => ({})],
    ["node:http with an agent", () => ({ agent: new Agent() })],
    ["fetch", () => ({ fetch: globalThis.fetch })],
    ["a dispatcher", () => ({ dispatcher: new Dispatcher() })],
  ])("over %s", async (_name, options) => {
    const { port, close } = await refusingPort();
    onTestFinished(close);
    const client = connect(`http://${name.host}:${port}`, { allowInsecureHttp: true, ...options() });
    const error = await failureOf(() => client.rerank(rerank));
    expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "no" });
    expect(error.message).toMatch(/2 addresses were tried, the last ::1: E\w+\. Nothing listens there/);
  });
});
