import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { HttpProxyAgent } from "http-proxy-agent";
import { HttpsProxyAgent } from "https-proxy-agent";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { useNoBackoff } from "../support/backoff.js";
import { canaryKey, leaksOf } from "../support/canary.js";
import { certificate } from "../support/certificate.js";
import { connect, failureOf, operationCalls } from "../support/clients.js";
import { useForwardProxy } from "../support/forwardProxy.js";
import { sha256, useRecordingServer } from "../support/recordingServer.js";
import { refusingPort } from "../support/refusingPort.js";
import { runScript } from "../support/script.js";
import { useSecureServer } from "../support/secureServer.js";
import { useTemporaryFile } from "../support/temporaryFile.js";
import { until } from "../support/turns.js";

const proxy = useForwardProxy();
const secure = useSecureServer();

describe("a proxy", () => {
  const plain = useRecordingServer();

  const rerank = { query: "q", documents: ["d"] };
  const content = randomBytes(5 * 1024 * 1024 + 3);
  const file = useTemporaryFile(content);

  /** An agent whose tunnels trust the service's certificate: what is given to it is for the proxy's own. */
  function trusting(keepAlive = false): HttpsProxyAgent<string> {
    const agent = new HttpsProxyAgent(proxy.url, { keepAlive });
    Object.assign(agent.options, { ca: certificate });
    return agent;
  }

  describe("through a tunnel to https", () => {
    test.each(operationCalls)(
      "$operation reaches the service, and the proxy sees no key",
      async ({ call, method, path }) => {
        await call(connect(secure.url, { agent: trusting() }));
        expect(secure.requests).toMatchObject([{ method, url: path, authorization: `Bearer ${canaryKey}` }]);
        expect(proxy.seen).toMatchObject([{ method: "CONNECT", target: `localhost:${secure.port}` }]);
        expect(leaksOf(proxy.seen)).toEqual([]);
      },
    );

    test("a file arrives whole", async () => {
      await connect(secure.url, { agent: trusting() }).datasets.upload("reviews", file);
      expect(secure.requests[0]?.body.includes(content)).toBe(true);
    });

    test("one tunnel serves many calls that may be repeated when the agent keeps it", async () => {
      const agent = trusting(true);
      try {
        const client = connect(secure.url, { agent });
        for (const { call } of operationCalls) await call(client);
        expect(secure.requests).toHaveLength(operationCalls.length);
        // The resume's, which the rerank and the scale use again, and the upload's.
        expect(proxy.seen).toHaveLength(operationCalls.filter(({ safe }) => !safe).length);
      } finally {
        agent.destroy();
      }
    });

    test("a certificate nobody vouches for ends the call, and nothing ran", async () => {
      const agent = new HttpsProxyAgent(proxy.url);
      const error = await failureOf(() => connect(secure.url, { agent }).rerank(rerank));
      expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "no", codeSource: "transport" });
      expect(error.message).toContain("self-signed certificate");
      expect(secure.requests).toEqual([]);
    });
  });

  describe.each([
    ["a tunnel", (url: string) => new HttpsProxyAgent(url), "CONNECT"],
    ["an http proxy", (url: string) => new HttpProxyAgent(url), undefined],
  ])("through %s to plain http", (_what, agentFor, connecting) => {
    test.each(operationCalls)("$operation reaches the service", async ({ call, method, path }) => {
      await call(connect(plain.url, { agent: agentFor(proxy.url) }));
      expect(plain.only).toMatchObject({
        method,
        url: path,
        headers: { authorization: `Bearer ${canaryKey}` },
      });
      const target = connecting ? new URL(plain.url).host : plain.url + path;
      expect(proxy.seen).toMatchObject([{ method: connecting ?? method, target }]);
    });

    test("a long body arrives whole", async () => {
      const documents = Array.from({ length: 500 }, (_, index) => `Straße №${index} `.repeat(20));
      await connect(plain.url, { agent: agentFor(proxy.url) }).rerank({ query: "q", documents });
      expect(JSON.parse(plain.only.body.toString())).toEqual({ query: "q", documents });
    });

    test("a file arrives whole, with its length", async () => {
      await connect(plain.url, { agent: agentFor(proxy.url) }).datasets.upload("reviews", file);
      const { files, headers, body } = plain.only;
      expect(files.map((one) => one.sha256)).toEqual([sha256(content)]);
      expect(headers["content-length"]).toBe(String(body.byteLength));
    });

    test("a stream without a size arrives whole", async () => {
      const client = connect(plain.url, { agent: agentFor(proxy.url) });
      async function* half() {
        yield content.subarray(0, 1000);
        yield content.subarray(1000);
      }
      await client.datasets.upload("reviews", half(), { name: "train.jsonl" });
      expect(plain.only.files.map((one) => one.sha256)).toEqual([sha256(content)]);
    });

    test("a redirect is not followed", async () => {
      plain.reply({ status: 307, text: "", headers: { location: "http://127.0.0.1:1/" } });
      const client = connect(plain.url, { agent: agentFor(proxy.url) });
      expect(await failureOf(() => client.rerank(rerank))).toMatchObject({ code: "FAILED_PRECONDITION" });
      expect(proxy.seen).toHaveLength(1);
    });

    test.each(operationCalls)("$operation that the proxy refuses never runs", async ({ call }) => {
      proxy.refusal = 403;
      const client = connect(plain.url, { agent: agentFor(proxy.url) });
      const error = await failureOf(() => call(client));
      expect(error).toMatchObject({ code: "PERMISSION_DENIED", httpStatus: 403, executed: "no" });
      expect(plain.connections).toBe(0);
    });

    test.each(operationCalls)(
      "$operation over a proxy nobody runs is UNAVAILABLE, and never ran",
      async ({ call }) => {
        const nobody = await refusingPort();
        const client = connect(plain.url, { agent: agentFor(nobody.url) });
        const error = await failureOf(() => call(client));
        expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "no", codeSource: "transport" });
        expect(error.message).toContain("ECONNREFUSED");
        await nobody.close();
      },
    );
  });

  test.each(operationCalls)(
    "$operation ends at its deadline when the proxy opens no tunnel, and never ran",
    async ({ call }) => {
      const silent = createServer((socket) => socket.on("error", () => {}).resume()).listen(0, "127.0.0.1");
      await once(silent, "listening");
      try {
        const { port } = silent.address() as AddressInfo;
        const client = connect(plain.url, { agent: new HttpsProxyAgent(`http://127.0.0.1:${port}`) });
        const error = await failureOf(() => call(client, { timeoutMs: 50 }));
        expect(error).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "no" });
        expect(plain.connections).toBe(0);
      } finally {
        silent.close();
      }
    },
  );
});

describe("a tunnel", () => {
  useNoBackoff();

  // A proxy that takes connections and never responds.
  const silent = createServer();
  const open = new Set<Socket>();
  let connections = 0;
  silent.on("connection", (socket) => {
    connections += 1;
    open.add(socket.on("error", () => {}).resume());
    socket.on("close", () => open.delete(socket));
  });
  const silentUrl = () => `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;

  beforeEach(async () => {
    connections = 0;
    await once(silent.listen(0, "127.0.0.1"), "listening");
  });
  afterEach(() => {
    silent.close();
    for (const socket of open) socket.destroy();
  });

  function trusting(url: string, options: object = {}): HttpsProxyAgent<string> {
    const agent = new HttpsProxyAgent(url, options);
    Object.assign(agent.options, { ca: certificate });
    return agent;
  }

  describe.each(operationCalls)("$operation through a proxy that never responds to CONNECT", ({ call }) => {
    test.each([
      ["connectTimeoutMs", { connectTimeoutMs: 40 }],
      ["attemptTimeoutMs", { attemptTimeoutMs: 40 }],
    ])("ends each attempt at %s, and is repeated: it never ran", async (_what, times) => {
      const client = connect(secure.url, { agent: trusting(silentUrl()), maxRetries: 2, ...times });
      const error = await failureOf(() => call(client));
      expect(error).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "no" });
      expect(error.attempts).toHaveLength(3);
      await until(() => connections >= 3 && open.size === 0);
      expect(connections).toBe(3);
      expect(secure.requests).toEqual([]);
    });

    test("leaves no socket behind when its client is closed", async () => {
      const client = connect(secure.url, { agent: trusting(silentUrl()) });
      const running = failureOf(() => call(client));
      await until(() => open.size === 1);
      await client.close();
      expect(await running).toMatchObject({ code: "CANCELLED", executed: "no" });
      await until(() => open.size === 0);
    });
  });

  test("places of an agent with a limit are free again after tunnels that never came to be", async () => {
    const agent = trusting(silentUrl(), { maxSockets: 2 });
    const client = connect(secure.url, { agent, connectTimeoutMs: 30 });
    const failed = await Promise.all(
      Array.from({ length: 6 }, () => failureOf(() => client.rerank({ query: "q", documents: ["d"] }))),
    );
    expect(failed.map(({ code }) => code)).toEqual(Array(6).fill("DEADLINE_EXCEEDED"));
    // The server may hear of the last one after the client gave it up.
    await until(() => connections >= 6);
    expect(connections).toBe(6);
    agent.proxy.port = new URL(proxy.url).port;
    agent.connectOpts = { ...agent.connectOpts, port: Number(agent.proxy.port) };
    await client.withOptions({ connectTimeoutMs: 10_000 }).rerank({ query: "q", documents: ["d"] });
    expect(secure.requests).toHaveLength(1);
  });

  test("a process ends although a proxy never responds", { timeout: 60_000 }, async () => {
    const script = `
    import { createRequire } from "node:module";
    import { createClient } from "./src/index.ts";
    const { HttpsProxyAgent } = createRequire(process.cwd() + "/package.json")("https-proxy-agent");
    const agent = new HttpsProxyAgent(process.env.PROXY);
    const options = { baseUrl: "https://service.invalid", accountId: "a", agent, maxRetries: 0 };
    const client = createClient({ ...options, connectTimeoutMs: 50 });
    const code = await client.deployments.scale("prod", 1).catch(({ code }) => code);
    const closed = createClient(options);
    // Loaded before, so that the call has begun when the client is closed, on a busy machine too.
    await import("./src/wrappers/uploadFile.ts");
    const running = closed.datasets.upload("reviews", "package.json").catch(({ code }) => code);
    setTimeout(async () => {
      await closed.close();
      console.log(code, await running);
    }, 100);
  `;
    const { exitCode, stdout } = await runScript(script, { PROXY: silentUrl() });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "DEADLINE_EXCEEDED CANCELLED\n" });
  });

  describe.each(operationCalls)("$operation through a proxy that opens no tunnel", ({ call }) => {
    test.each([
      [500, "UNAVAILABLE", 3],
      [502, "UNAVAILABLE", 3],
      [503, "UNAVAILABLE", 3],
      [407, "UNAUTHENTICATED", 1],
      [400, "PERMISSION_DENIED", 1],
      [401, "PERMISSION_DENIED", 1],
      [403, "PERMISSION_DENIED", 1],
      [404, "PERMISSION_DENIED", 1],
      [429, "PERMISSION_DENIED", 1],
      [302, "PERMISSION_DENIED", 1],
    ])(
      "and responds with %i is %s after as many attempts as that allows: %i",
      async (status, code, attempts) => {
        proxy.refusal = status;
        let asked = 0;
        const apiKey = () => {
          asked += 1;
          return "never-shown-to-a-proxy";
        };
        const client = connect(secure.url, { agent: trusting(proxy.url), maxRetries: 2, apiKey });
        const error = await failureOf(() => call(client));
        expect(error).toMatchObject({ code, executed: "no", codeSource: "transport", inferred: true });
        expect(error.hint).toContain("proxy");
        expect(error.message).toContain(`HTTP ${status}`);
        expect(error.attempts).toHaveLength(attempts);
        // Each attempt asks for its key, and none asks for another.
        expect(asked).toBe(attempts);
        expect(proxy.seen.map(({ method }) => method)).toEqual(Array(attempts).fill("CONNECT"));
        expect(JSON.stringify(proxy.seen)).not.toContain("never-shown");
        expect(secure.requests).toEqual([]);
      },
    );
  });
});
