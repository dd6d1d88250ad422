import { once } from "node:events";
import { createServer } from "node:http";
import { Socket } from "node:net";
import { describe, expect, test, vi } from "vitest";
import { memberOf } from "../../src/values.js";
import { useNoBackoff } from "../support/backoff.js";
import { connect, failureOf } from "../support/clients.js";
import { respond } from "../support/countingServer.js";
import { useHostAddresses } from "../support/hostAddresses.js";
import { runScript } from "../support/script.js";
import { type SlowListener, slowListener } from "../support/slowListener.js";

const name = useHostAddresses();
useNoBackoff();

/** Runs a test with a port of 127.0.0.1 that takes no connection, where this system has such. */
async function withSlow(
  skip: (why: string) => never,
  run: (slow: SlowListener) => Promise<void>,
): Promise<void> {
  const slow = (await slowListener()) ?? skip("This system makes connections beyond a listener's backlog.");
  await run(slow).finally(slow.close);
}

test("an address that is dead for good costs its share once, when another came back", ({ skip }) =>
  withSlow(skip, async ({ port }) => {
    const client = connect(`http://${name.host}:${port}`, {
      allowInsecureHttp: true,
      connectTimeoutMs: 1_200,
    });
    const resume = () => client.reinforcementFineTuningJobs.resume("job-1");
    const message = async () => (await failureOf(resume)).message;
    name.addresses = ["127.0.0.1", "::1"];
    await message();
    expect(await timeOf(message)).toBe(600);
    const back = createServer(respond)
      .on("error", () => {})
      .listen(port, "127.0.0.2");
    await once(back, "listening").catch(() => skip("This system has one address of its own."));
    name.addresses = ["127.0.0.1", "127.0.0.2"];
    await resume();
    name.addresses = ["127.0.0.1", "::1"];
    expect(await timeOf(message)).toBe(undefined);
    back.closeAllConnections();
    back.close();
  }));

// The milliseconds that the options of a connection allow for each address.
async function timeOf(call: () => Promise<unknown>): Promise<unknown> {
  const connects = vi.spyOn(Socket.prototype, "connect");
  await call();
  const [normalized] = connects.mock.calls.at(-1) ?? [];
  connects.mockRestore();
  return memberOf(memberOf(normalized, "0"), "autoSelectFamilyAttemptTimeout");
}

// This Node where it has the feature, else one that is named for this test.
const node = process.allowedNodeEnvironmentFlags.has("--use-env-proxy")
  ? process.execPath
  : process.env.TUNERANK_TEST_NEWER_NODE;
const skipped = node ? "" : " (skipped: needs Node 24, this one or one named by TUNERANK_TEST_NEWER_NODE)";

const script = `
  import dns from "node:dns";
  import net from "node:net";
  import { createClient } from "./src/index.ts";
  const { connect } = net.Socket.prototype;
  net.Socket.prototype.connect = function (...given) {
    console.log(given[0][0].autoSelectFamilyAttemptTimeout ?? "the platform's");
    return connect.apply(this, given);
  };
  const addresses = [{ address: "127.0.0.1", family: 4 }, { address: "::1", family: 6 }];
  dns.lookup = (host, options, done) => setImmediate(done, null, addresses);
  const client = createClient({
    baseUrl: process.env.URL, allowInsecureHttp: true, maxRetries: 0, connectTimeoutMs: 1_200,
  });
  for (let i = 0; i < 3; i++) {
    await client.rerank({ query: "q", documents: ["d"] }).catch((error) => error);
  }
`;

describe.skipIf(!node)(`NODE_USE_ENV_PROXY${skipped}`, () => {
  test.for(["http", "https"])("shares the time among the addresses of a proxy to %s", (protocol, { skip }) =>
    withSlow(skip, async ({ port }) => {
      const proxy = `http://proxy.test:${port}`;
      const env = { URL: `${protocol}://behind.test`, HTTP_PROXY: proxy, HTTPS_PROXY: proxy, NO_PROXY: "" };
      const { stdout } = await runScript(script, { ...env, NODE_USE_ENV_PROXY: "1" }, { node: node ?? "" });
      expect(stdout).toBe("the platform's\n600\n600\n");
    }),
  );
});
