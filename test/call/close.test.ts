import { Agent } from "node:http";
import { createServer } from "node:https";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Client, ClientOptions } from "../../src/index.js";
import { certificate, certificateKey } from "../support/certificate.js";
import { countClientSockets } from "../support/clientSockets.js";
import { connect as connectAny, failureOf, operationCalls } from "../support/clients.js";
import { TestClock } from "../support/clock.js";
import { respond, useCountingServer } from "../support/countingServer.js";
import { goodText } from "../support/responses.js";
import { runScript } from "../support/script.js";
import { ending, serving } from "../support/servers.js";
import { until } from "../support/turns.js";

const server = useCountingServer();
const clock = new TestClock();
afterEach(() => clock.remove());

// Clients of the same address and options share their sockets; those of another test had perhaps the same port.
let maxConnections = 1000;
beforeEach(() => {
  maxConnections += 1;
});
// Idle ones end by close() alone: time would end them too late.
const connect = (options?: ClientOptions) =>
  connectAny(server.url, { maxConnections, keepAliveMs: 1_000_000, ...options });

const rerank = (client: Client) => client.rerank({ query: "q", documents: ["d"] });

/** Lets requests wait from now on; `reply` responds to those that came, and to all that come later. */
function hold(): { arrived: (count: number) => Promise<void>; reply: () => void } {
  const held: (() => void)[] = [];
  server.listen((request, response) => {
    request.on("error", () => {}).on("end", () => held.push(() => response.end(goodText)));
    request.resume();
  });
  return {
    arrived: (count) => until(() => held.length >= count),
    reply() {
      server.listen(respond);
      for (const respond of held.splice(0)) respond();
    },
  };
}

/** Closes the client, and waits until its connections have ended with it. */
async function closeAll(client: Client): Promise<void> {
  const closed = server.allClosed();
  await client.close();
  await closed;
  expect(server.open.size).toBe(0);
}

// What comes of a call at each point where it may be: test/call/endedAnywhere.test.ts.
describe("close()", () => {
  test.each([
    ["a client", () => connect()],
    ["a client made with withOptions", () => connect().withOptions({})],
  ])("leaves %s that can be used again, and is then closed again", async (_what, make) => {
    const client = make();
    await rerank(client);
    await closeAll(client);
    await rerank(client);
    await rerank(client);
    expect(server.used).toEqual([1, 2, 2]);
    await closeAll(client);
  });

  test("leaves the sockets that others share since its own have all expired", async () => {
    clock.install();
    const own = () => connectAny(server.url, { maxConnections });
    const [one, other, third] = [own(), own(), own()];
    await rerank(one);
    const expired = server.allClosed();
    // Once for the socket, once for what held it.
    clock.pass(5_000);
    await expired;
    clock.pass(5_000);
    await rerank(other);
    await one.close();
    await rerank(third);
    expect(server.used).toEqual([1, 2, 2]);
    await other.close();
    await third.close();
  });

  test("leaves an agent of the caller's to its owner, and ends the rest with the block of an await using", async () => {
    const agent = ending(new Agent({ keepAlive: true }));
    for (const options of [{ agent }, { agent }, { maxConnections }]) {
      await using client = connectAny(server.url, options);
      await rerank(client);
    }
    expect(server.used).toEqual([1, 1, 2]);
    await until(() => server.open.size === 1);
  });

  test("ends over fetch the calls of its own client alone", async () => {
    const first = connectAny(server.url, { fetch: globalThis.fetch });
    const { arrived, reply } = hold();
    const running = [rerank(first), rerank(first.withOptions({}))];
    const child = first.withOptions({});
    const own = failureOf(() => rerank(child));
    await arrived(3);
    await child.close();
    expect(await own).toMatchObject({ code: "CANCELLED", executed: "unknown" });
    reply();
    await Promise.all([...running, rerank(child)]);
  });
});

describe("a client made with withOptions that is closed", () => {
  test.each(operationCalls)("leaves $operation of the first client and of a sister", async ({ call }) => {
    const first = connect();
    const sister = first.withOptions({ timeoutMs: 50_000 });
    const { arrived, reply } = hold();
    const calls = [call(first), call(sister)].map((running) => running.withResponse());
    await arrived(2);
    await first.withOptions({ timeoutMs: 5_000 }).close();
    await first.withOptions({}).withOptions({ accountId: "other" }).close();
    reply();
    for (const { attempts } of await Promise.all(calls)) expect(attempts).toHaveLength(1);
    expect(server.used).toHaveLength(2);
    await first.close();
    await closeAll(sister);
  });

  test("ends its own calls, also those that wait for a socket, and nobody else's", async () => {
    const first = connect({ maxConnections: 2 });
    const child = first.withOptions({ accountId: "other" });
    const { arrived, reply } = hold();
    const mine = [1, 2].map(() => failureOf(() => rerank(child)));
    await arrived(2);
    mine.push(failureOf(() => rerank(child)));
    const theirs = [rerank(first), rerank(first.withOptions({}))];
    await child.close();
    const failed = await Promise.all(mine);
    expect(failed.map(({ code }) => code)).toEqual(Array(3).fill("CANCELLED"));
    expect(failed.map(({ executed }) => executed)).toEqual(["unknown", "unknown", "no"]);
    await arrived(4);
    reply();
    await Promise.all(theirs);
    expect(server.used).toHaveLength(4);
    await closeAll(first);
  });

  test("leaves keep-alive to the first client when it had a call in flight", async () => {
    const first = connect();
    const child = first.withOptions({});
    const { arrived, reply } = hold();
    const lost = failureOf(() => rerank(child));
    await arrived(1);
    await Promise.all([child.close(), lost]);
    reply();
    for (let i = 0; i < 10; i++) await rerank(first);
    expect(server.connections).toBe(2);
    await first.close();
  });
});

describe("the first client's close()", () => {
  test("ends the idle connections of clients made of it that were never closed", async () => {
    const first = connect();
    await Promise.all(Array.from({ length: 8 }, () => rerank(first.withOptions({ timeoutMs: 5_000 }))));
    expect(server.open.size).toBe(8);
    await closeAll(first);
  });

  test.each(operationCalls)(
    "ends its own $operation, and leaves that of a client made of it; its connection ends with it",
    async ({ call, operation }) => {
      const first = connect();
      const child = first.withOptions({ timeoutMs: 50_000 });
      await rerank(first);
      const { arrived, reply } = hold();
      const own = failureOf(() => call(first));
      await arrived(1);
      const running = call(child).withResponse();
      await arrived(2);
      await first.close();
      const error = await own;
      expect(error).toMatchObject({
        code: "CANCELLED",
        executed: "unknown",
        codeSource: "client",
        operation,
      });
      expect(error.message).toContain("The client was closed.");
      const closed = server.allClosed();
      reply();
      expect((await running).attempts).toHaveLength(1);
      await closed;
      expect(server.open.size).toBe(0);
    },
  );

  test("leaves those that wait for a connection: no more are open than may be, and none at the end", async () => {
    const sockets = countClientSockets();
    const first = connect({ maxConnections: 2 });
    const child = first.withOptions({});
    const { arrived, reply } = hold();
    const calls = Array.from({ length: 6 }, () => rerank(child));
    await arrived(2);
    await first.close();
    reply();
    await Promise.all(calls);
    await until(() => server.open.size === 0);
    expect(server.used).toHaveLength(6);
    expect(sockets.most).toBe(2);
  });

  test("counts those made of it, and clients of the same address and options that were created apart", async () => {
    const [first, apart] = [connect(), connect()];
    const children = Array.from({ length: 3 }, () => first.withOptions({}));
    const [child] = children as [Client];
    for (const client of [first, apart, ...children]) await rerank(client);
    for (const client of [first, ...children]) {
      await client.close();
      await rerank(apart);
    }
    expect(server.connections).toBe(1);
    // One that is used again counts again.
    await rerank(child);
    await apart.close();
    await rerank(child);
    expect(server.connections).toBe(1);
    await closeAll(child);
  });
});

describe("what nobody closes", () => {
  const one = 'client.rerank({ query: "q", documents: ["d"] })';
  const run = (script: string, env: Record<string, string>, options: string) =>
    runScript(
      `import { createClient } from "./src/index.ts";
       const client = createClient({ baseUrl: process.env.URL, accountId: "a", ${options});
       ${script};
       console.log("done");`,
      env,
      { withinMs: 8_000 },
    );
  const keepAlive = "keepAliveMs: 600_000 }";

  test.each<[what: string, script: string, requests?: number, options?: string]>([
    ["an unused client", "client.withOptions({ timeoutMs: 5_000 })", 0],
    [
      "many idle sockets",
      `await Promise.all(Array.from({ length: 20 }, () => ${one}));
       await client.datasets.upload("reviews", "package.json")`,
      21,
    ],
    ["a closed client", `await ${one}; await client.close()`, 1],
    ["a client used after it was closed", `await client.close(); await ${one}`, 1],
    [
      "calls that were aborted or met their deadline",
      // How far a call got before it was ended is not what is tested.
      `const controller = new AbortController();
       const scale = (options) => client.deployments.scale("held", 1, options).catch(({ code }) => code);
       const codes = [scale({ timeoutMs: 50 }), scale({ signal: controller.signal })];
       setTimeout(() => controller.abort(), 50);
       if (String(await Promise.all(codes)) !== "DEADLINE_EXCEEDED,CANCELLED") throw codes`,
    ],
    ["an idle client over fetch", `await ${one}`, 1, "fetch }"],
  ])("keeps no process from its end: %s", async (_what, script, requests, options = keepAlive) => {
    server.listen((request, response) => {
      request.resume().on("end", () => {
        if (!request.url?.includes("held")) response.end(goodText);
      });
    });
    const { exitCode, stdout, stderr } = await run(script, { URL: server.url }, options);
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: "done\n", stderr: "" });
    if (requests !== undefined) expect(server.used).toHaveLength(requests);
  });

  test("keeps no process from its end: idle TLS sockets", async () => {
    const options = { cert: certificate, key: certificateKey, keepAliveTimeout: 0 };
    const secure = createServer(options, (request, response) => {
      request.resume().on("end", () => response.end(goodText));
    });
    const env = { URL: `https://localhost:${await serving(secure)}`, NODE_TLS_REJECT_UNAUTHORIZED: "0" };
    const { exitCode, stdout } = await run(`await Promise.all([${one}, ${one}])`, env, keepAlive);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "done\n" });
  });

  test("is collected: 10,000 clients made with withOptions, used or not", async () => {
    const script = `
      import { setImmediate as turn } from "node:timers/promises";
      import { createClient } from "./src/index.ts";
      const first = createClient({ baseUrl: process.env.URL, maxConnections: 1 });
      let collected = 0;
      const registry = new FinalizationRegistry(() => (collected += 1));
      async function make(number) {
        const child = first.withOptions({ headers: { "x-request": String(number) } });
        registry.register(child);
        // A call of each would take minutes.
        if (number % 50 === 0) await child.rerank({ query: "q", documents: ["d"] });
      }
      for (let number = 0; number < 10_000; number += 1) await make(number);
      // One that stays would keep this process busy until its test ends.
      while (collected < 10_000) {
        globalThis.gc();
        await turn();
      }
      await first.close();
      console.log("done");
    `;
    const { stdout, stderr } = await runScript(script, { URL: server.url }, { args: ["--expose-gc"] });
    expect({ stdout, stderr }).toEqual({ stdout: "done\n", stderr: "" });
    expect(server.used).toHaveLength(200);
    expect(server.connections).toBe(1);
  });
});
