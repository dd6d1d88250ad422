import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { HttpProxyAgent } from "http-proxy-agent";
import { HttpsProxyAgent } from "https-proxy-agent";
import { describe, expect, test } from "vitest";
import { canaryKey, leaksOf } from "../support/canary.js";
import { certificate } from "../support/certificate.js";
import { connect, failureOf, operationCalls } from "../support/clients.js";
import { useForwardProxy } from "../support/forwardProxy.js";
import { sha256, useRecordingServer } from "../support/recordingServer.js";
import { refusingPort } from "../support/refusingPort.js";
import { useSecureServer } from "../support/secureServer.js";
import { useTemporaryFile } from "../support/temporaryFile.js";

const proxy = useForwardProxy();
const plain = useRecordingServer();
const secure = useSecureServer();
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
      expect(secure.requests).toHaveLength(4);
      // The resume's, which the rerank and the scale use again, and the upload's.
      expect(proxy.seen).toHaveLength(2);
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
