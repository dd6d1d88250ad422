import { once } from "node:events";
import { createServer } from "node:http";
import { Socket } from "node:net";
import { expect, test, vi } from "vitest";
import { memberOf } from "../../src/values.js";
import { useNoBackoff } from "../support/backoff.js";
import { connect, failureOf } from "../support/clients.js";
import { respond } from "../support/countingServer.js";
import { useHostAddresses } from "../support/hostAddresses.js";
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
