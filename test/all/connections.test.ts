// Where connections go: through which proxy, and to which address of a name.
import { execFile, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { Socket } from "node:net";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, test, vi } from "vitest";
import { isExcepted, proxyFromEnvironment } from "../../src/transport/node/proxies.js";
import { memberOf } from "../../src/values.js";
import { useNoBackoff } from "../support/backoff.js";
import { certificate } from "../support/certificate.js";
import { connect, failureOf } from "../support/clients.js";
import { respond } from "../support/countingServer.js";
import { useForwardProxy } from "../support/forwardProxy.js";
import { useHostAddresses } from "../support/hostAddresses.js";
import { temporaryFolder } from "../support/project.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { runScript } from "../support/script.js";
import { useSecureServer } from "../support/secureServer.js";
import { slowListener } from "../support/slowListener.js";

// Which addresses go through a proxy, held against curl.
const withoutCurl = spawnSync("curl", ["--version"]).error ? " (skipped: there is no curl)" : "";

// What this curl does with a list that has ports, brackets or networks of IPv6 depends on its version: those are tested below by themselves.
const exceptions: readonly (readonly [list: string, url: string])[] = [
  ["example.com", "http://www.example.com/"],
  ["example.com", "http://example.com:8080/"],
  [".example.com", "http://example.com/"],
  ["example.com", "http://badexample.com/"],
  ["EXAMPLE.com.", "http://example.com/"],
  ["a.test, b.test c.test", "http://c.test/"],
  ["*", "http://a.test/"],
  ["a.test,*", "http://b.test/"],
  ["10.0.0.0/8", "http://10.1.2.3/"],
  ["10.0.0.0/8", "http://11.1.2.3/"],
  ["192.168.1.0/25", "http://192.168.1.130/"],
  ["192.168.1.1/33", "http://192.168.1.1/"],
  ["10.0.0.1/", "http://10.0.0.1/"],
  ["10.0.0.0/0", "http://1.2.3.4/"],
  ["192.168.1", "http://192.168.1.1/"],
  ["::2", "http://[::2]/"],
  ["", "http://a.test/"],
];

const proxy = useForwardProxy();

describe.skipIf(withoutCurl)(`curl${withoutCurl}`, () => {
  async function curlAsks(url: string, env: Record<string, string>): Promise<boolean> {
    proxy.reset();
    proxy.refusal = 403;
    const named = Object.entries(env).map(([name, value]) => [
      name,
      value.replace("PROXY", new URL(proxy.url).host),
    ]);
    // Nothing responds at these addresses: without a proxy it gives up at once.
    const args = ["--silent", "--output", "/dev/null", "--connect-timeout", "0.2", url];
    await promisify(execFile)("curl", args, { env: Object.fromEntries(named) }).catch(() => {});
    return proxy.seen.length > 0;
  }

  test.each(exceptions)("leaves out what this client leaves out: NO_PROXY=%j, %s", async (list, url) => {
    const asks = await curlAsks(url, { http_proxy: "http://PROXY", no_proxy: list });
    expect(!isExcepted(new URL(url), list)).toBe(asks);
  });

  test.each([
    ["https://a.test/", { https_proxy: "PROXY" }],
    ["https://a.test/", { HTTPS_PROXY: "http://PROXY" }],
    ["https://a.test/", { http_proxy: "PROXY" }],
    ["http://a.test/", { HTTP_PROXY: "PROXY" }],
    ["http://a.test/", { http_proxy: "PROXY" }],
    ["http://a.test/", { all_proxy: "PROXY" }],
    ["https://a.test/", { ALL_PROXY: "PROXY" }],
    ["https://a.test/", { https_proxy: "", ALL_PROXY: "PROXY" }],
    ["https://a.test/", { ALL_PROXY: "PROXY", NO_PROXY: "a.test" }],
    ["https://a.test/", { ALL_PROXY: "PROXY", NO_PROXY: "a.test", no_proxy: "b.test" }],
  ] as const)("reads the same variables: %s, %j", async (url, env) => {
    const asks = await curlAsks(url, env);
    expect(proxyFromEnvironment(new URL(url), env) !== undefined).toBe(asks);
  });
});

test.each([
  ["fd00::/8", "http://[fe12::1]/", false],
  ["[fd00::1]", "http://[fd00::1]:8080/", true],
  ["[fd00::1]:80", "http://[fd00::1]/", true],
  ["[fd00::1]:80", "http://[fd00::1]:81/", false],
] as const)("NO_PROXY=%j and %s", (list, url, expected) => {
  expect(isExcepted(new URL(url), list)).toBe(expected);
});

describe("the proxy of the environment", () => {
  // This Node where it has the feature, else one that is named for this test.
  const node = process.allowedNodeEnvironmentFlags.has("--use-env-proxy")
    ? process.execPath
    : process.env.TUNERANK_TEST_NEWER_NODE;
  const skipped = node ? "" : " (skipped: needs Node 24, this one or one named by TUNERANK_TEST_NEWER_NODE)";

  const plain = useRecordingServer();
  const secure = useSecureServer();

  const script = `
  import { createClient } from "./src/index.ts";
  const client = createClient({ baseUrl: process.env.URL, accountId: "a", maxRetries: 0 });
  await client.rerank({ query: "q", documents: ["d"] });
  await client.datasets.upload("reviews", "package.json");
  await client.close();
  console.log("done");
`;

  describe.skipIf(!node)(`NODE_USE_ENV_PROXY${skipped}`, () => {
    const runWith = (env: Record<string, string>) => runScript(script, env, { node: node ?? "" });
    const done = { exitCode: 0, stdout: "done\n" };

    test("sends plain http through HTTP_PROXY", async () => {
      const env = { URL: plain.url, HTTP_PROXY: proxy.url, NODE_USE_ENV_PROXY: "1", NO_PROXY: "" };
      expect(await runWith(env)).toMatchObject(done);
      expect(plain.requests).toHaveLength(2);
      expect(proxy.seen.map(({ target }) => target)).toEqual(
        plain.requests.map(({ url }) => plain.url + url),
      );
    });

    test("sends https through HTTPS_PROXY, whole and unseen", async () => {
      const { folder, remove } = await temporaryFolder();
      try {
        const authority = path.join(folder, "ca.pem");
        await writeFile(authority, certificate);
        const env = { URL: secure.url, HTTPS_PROXY: proxy.url, NODE_USE_ENV_PROXY: "1", NO_PROXY: "" };
        expect(await runWith({ ...env, NODE_EXTRA_CA_CERTS: authority })).toMatchObject(done);
        expect(secure.requests).toHaveLength(2);
        // The rerank's, and the upload's: one that may not be sent twice takes a new connection.
        const tunnel = { method: "CONNECT", target: `localhost:${secure.port}` };
        expect(proxy.seen).toMatchObject([tunnel, tunnel]);
      } finally {
        await remove();
      }
    });
  });
});

const name = useHostAddresses();
useNoBackoff();

test("an address that is dead for good costs its share once, when another came back", async ({ skip }) => {
  const slow = (await slowListener()) ?? skip("This system makes connections beyond a listener's backlog.");
  const { port } = slow;
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
  await slow.close();
});

// The milliseconds that the options of a connection allow for each address.
async function timeOf(call: () => Promise<unknown>): Promise<unknown> {
  const connects = vi.spyOn(Socket.prototype, "connect");
  await call();
  const [normalized] = connects.mock.calls.at(-1) ?? [];
  connects.mockRestore();
  return memberOf(memberOf(normalized, "0"), "autoSelectFamilyAttemptTimeout");
}
