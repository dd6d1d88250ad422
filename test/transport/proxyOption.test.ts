import { randomBytes } from "node:crypto";
import { createServer, type Socket } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { ClientOptions } from "../../src/index.js";
import { isExcepted, proxyFromEnvironment } from "../../src/transport/node/proxies.js";
import { leaksOf } from "../support/canary.js";
import { certificate } from "../support/certificate.js";
import { connect, failureOf, operationCalls } from "../support/clients.js";
import { outcomeOf, start } from "../support/commandLine.js";
import { useForwardProxy } from "../support/forwardProxy.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { goodText } from "../support/responses.js";
import { runScript } from "../support/script.js";
import { useSecureServer } from "../support/secureServer.js";
import { serving } from "../support/servers.js";
import { useTemporaryFile } from "../support/temporaryFile.js";
import { textOf } from "../support/withHint.js";

const proxy = useForwardProxy();
const plain = useRecordingServer();
const secure = useSecureServer();
const content = randomBytes(3 * 1024 * 1024 + 1);
const file = useTemporaryFile(content);
const authorities = useTemporaryFile(Buffer.from(certificate));
const rerank = { query: "q", documents: ["d"] };

afterEach(() => vi.unstubAllEnvs());

/** The plain service, under a name that only the proxy knows. */
const serviceUrl = () => `http://service.test:${new URL(plain.url).port}`;
/** A client of it. */
const connected = (options: ClientOptions) => connect(serviceUrl(), { allowInsecureHttp: true, ...options });

describe("the option proxy", () => {
  test.each(operationCalls)("takes $operation through a tunnel, and the proxy sees no key", async (each) => {
    await each.call(connected({ proxy: proxy.url, keepAliveMs: 0 }));
    expect(plain.requests).toMatchObject([{ method: each.method, url: each.path }]);
    expect(proxy.seen).toMatchObject([{ method: "CONNECT", target: new URL(serviceUrl()).host }]);
    expect(leaksOf(proxy.seen)).toEqual([]);
  });

  test("keeps the tunnel for the next call, and takes a file whole", async () => {
    // A pool of its own: it is shared by clients of the same options.
    const client = connected({ proxy: proxy.url, maxConnections: 3 });
    for (let call = 0; call < 5; call++) await client.rerank(rerank);
    expect(proxy.seen).toHaveLength(1);
    await client.datasets.upload("reviews", file);
    expect(plain.requests.at(-1)?.body.includes(content)).toBe(true);
    await client.close();
  });

  test.each([
    ["bob%40acme:pass%3Aword-of-bob", "bob@acme:pass:word-of-bob", "bob@acme:pass:word-of-bob"],
    ["token-of-bob", "token-of-bob:", "token-of-bob"],
    ["user-of-bob:word-of-bob", "user-of-bob:word-of-bob", "user-of-bob"],
    ["bob:w%C3%B6rd-of-bob", "bob:wörd-of-bob", "wörd-of-bob"],
    ["bob:w%E2%82%ACrd-of-bob", "bob:w€rd-of-bob", "w%E2%82%ACrd-of-bob"],
    ["bob:w%C3%B6rt-of-bob", "bob:wört-of-bob", Buffer.from("bob:wört-of-bob", "latin1").toString("base64")],
    ["bob:w%C3%B6rk12-of-bob", "bob:wörk12-of-bob", Buffer.from("bob:wörk12-of-bob").toString("base64")],
  ])("sends the proxy %s, and shows neither user name nor password", async (credentials, sent, shown) => {
    plain.reply({ status: 400, json: { message: `${shown} may not` } });
    const client = connected({ proxy: proxy.url.replace("//", `//${credentials}@`) });
    const error = await failureOf(() => client.rerank(rerank));
    const basic = `Basic ${Buffer.from(sent).toString("base64")}`;
    expect(proxy.seen[0]?.headers["proxy-authorization"]).toBe(basic);
    expect(plain.requests[0]?.headers).not.toHaveProperty("proxy-authorization");
    expect(textOf(error)).toBe("[INVALID_ARGUMENT] [redacted] may not.");
    expect(JSON.stringify(error)).not.toContain("of-bob");
  });

  test("never takes this machine's own addresses through the proxy", async () => {
    await connect(plain.url, { proxy: proxy.url }).rerank(rerank);
    expect([plain.requests.length, proxy.seen.length]).toEqual([1, 0]);
  });

  test.each([
    [407, "UNAUTHENTICATED", /credentials.*user name and password/],
    [403, "PERMISSION_DENIED", /allows no connection/],
    [502, "UNAVAILABLE", /could not reach the service/],
  ] as const)("a tunnel refused with %i reached nobody", async (status, code, hint) => {
    proxy.refusal = status;
    let asked = 0;
    const apiKey = () => `key-${++asked}`;
    const client = connected({ proxy: proxy.url, apiKey });
    const error = await failureOf(() => client.datasets.upload("reviews", file));
    expect(error).toMatchObject({ code, executed: "no", executedBecause: "nothing-sent" });
    expect(error.hint).toMatch(hint);
    expect([asked, plain.requests.length]).toEqual([1, 0]);
  });

  test("a proxy that is not there is named as what to check", async () => {
    const client = connect("https://service.test", { proxy: "http://127.0.0.1:9" });
    const error = await failureOf(() => client.rerank(rerank));
    expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "no" });
    expect(error.hint).toContain("The connection goes through a proxy: check that too.");
  });

  test("https goes through the tunnel unseen, and its certificate is checked", async () => {
    const script = `
        import { createClient } from "./src/index.ts";
        const client = createClient({ accountId: "a", maxRetries: 0, proxy: "env" });
        const call = client.rerank({ query: "q", documents: ["d"] });
        console.log(await call.then(() => "done", (error) => [error.executed, error.cause.code].join(" ")));
        await client.close();
      `;
    const env = { TUNERANK_BASE_URL: `https://service.test:${secure.port}`, https_proxy: proxy.url };
    const trusting = { ...env, NODE_EXTRA_CA_CERTS: authorities };
    expect(await runScript(script, trusting)).toMatchObject({ stdout: "done\n" });
    expect(secure.requests).toHaveLength(1);
    expect(await runScript(script, env)).toMatchObject({ stdout: "no DEPTH_ZERO_SELF_SIGNED_CERT\n" });
    expect(secure.requests).toHaveLength(1);
    expect(proxy.seen).toMatchObject([{ method: "CONNECT" }, { method: "CONNECT" }]);
  });
});

describe('proxy: "env"', () => {
  test("reads the environment once, at the first call, also when its connections have ended since", async () => {
    // Connections of its own, which end with it.
    const client = connected({ proxy: "env", maxConnections: 5 });
    vi.stubEnv("http_proxy", proxy.url);
    await client.rerank(rerank);
    await client.close();
    vi.stubEnv("http_proxy", "http://127.0.0.1:9");
    await client.rerank(rerank);
    expect(proxy.seen).toHaveLength(2);
  });

  test("names a variable that holds no proxy, and never its value", async () => {
    vi.stubEnv("all_proxy", "socks5://bob:word-of-bob@127.0.0.1:9");
    const error = await failureOf(() => connect("https://service.test", { proxy: "env" }).rerank(rerank));
    expect(textOf(error)).toBe("[INVALID_ARGUMENT] all_proxy is no http or https proxy.");
    expect(error).toMatchObject({ executed: "no", attempts: [] });
  });

  test("is what a connection that fails without it says that it lacks, but for what NO_PROXY excepts", async () => {
    vi.stubEnv("HTTPS_PROXY", proxy.url);
    vi.stubEnv("NO_PROXY", "excepted.invalid");
    const error = await failureOf(() => connect("https://service.invalid").rerank(rerank));
    expect(error.hint).toContain('HTTPS_PROXY is set, which this client does not use: pass proxy: "env".');
    const excepted = await failureOf(() => connect("https://excepted.invalid").rerank(rerank));
    expect(excepted.hint).not.toContain("HTTPS_PROXY");
    expect(proxy.seen).toEqual([]);
  });
});

/** A proxy that does this with the socket of each request. @returns its URL */
async function proxying(act: (socket: Socket) => void): Promise<string> {
  return `http://127.0.0.1:${await serving(createServer((socket) => socket.once("data", () => act(socket))))}`;
}

test("a proxy whose response to CONNECT has no end is given up after 64 KiB", async () => {
  let written = 0;
  const proxy = await proxying((socket) => {
    socket.write("HTTP/1.1 200 OK\r\n");
    const more = (): void => {
      if (socket.destroyed) return;
      written += 16_384;
      socket.write(`x-filler: ${"x".repeat(16_370)}\r\n`, more);
    };
    more();
  });
  const client = connect("https://service.test", { proxy, connectTimeoutMs: 5000 });
  const error = await failureOf(() => client.rerank(rerank));
  expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "no" });
  expect(error.message).toContain("no end");
  expect(written).toBeLessThan(8_000_000);
});

test("any 2xx of a proxy opens a tunnel", async () => {
  const proxy = await proxying((socket) => {
    socket.on("data", () => {
      socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${goodText.length}\r\n\r\n${goodText}`);
    });
    socket.write("HTTP/1.1 204 No Content\r\n\r\n");
  });
  const client = connect("http://service.test", { proxy, allowInsecureHttp: true });
  expect((await client.rerank(rerank)).data).toHaveLength(1);
});

test.each(["http://service.test", "https://service.test"])(
  "a proxy's 429 with a time is a limit: %s",
  async (baseUrl) => {
    let sent = "";
    const proxy = await proxying((socket) => {
      socket.on("data", (bytes) => {
        sent += bytes;
      });
      socket.write("HTTP/1.1 429 Slow\r\nretry-after: 120\r\ncontent-length: 0\r\n\r\n");
    });
    const client = connect(baseUrl, { proxy, allowInsecureHttp: true });
    const error = await failureOf(() => client.rerank(rerank));
    expect(error).toMatchObject({ code: "RESOURCE_EXHAUSTED", executed: "no", retryAfterMs: 120_000 });
    expect(error.notRetried).toBe("asked-to-wait-too-long");
    expect(sent).toBe("");
  },
);

describe("the command line", () => {
  const run = async (args: string[], env: Record<string, string> = {}) => {
    const all = ["scale", "prod", "1", "--allow-insecure-http", "--max-retries", "0", ...args];
    return outcomeOf(start(all, { baseUrl: serviceUrl(), env }));
  };

  test("reads the environment without being asked, and --proxy names one, also without a scheme", async () => {
    expect(await run([], { http_proxy: proxy.url })).toMatchObject({ exitCode: 0 });
    expect(await run(["--proxy", new URL(proxy.url).host])).toMatchObject({ exitCode: 0 });
    expect(proxy.seen).toHaveLength(2);
  });

  test.each([[["--noproxy", "test"]], [["--noproxy", "*", "--proxy", "http://127.0.0.1:9"]]])(
    "%j leaves it out",
    async (args) => {
      const { exitCode, stderr } = await run(args, { http_proxy: proxy.url });
      expect(exitCode).toBe(8);
      expect(stderr).toContain("service.test");
      expect(proxy.seen).toEqual([]);
    },
  );
});

// On Linux this address leads to this machine, and is none of those that never go through a proxy.
test.runIf(process.platform === "linux")(
  "a client with a proxy shares no connection with one without",
  async () => {
    const url = plain.url.replace("127.0.0.1", "0.0.0.0");
    const direct = connect(url, { allowInsecureHttp: true });
    await direct.rerank(rerank);
    expect(proxy.seen).toHaveLength(0);
    const proxied = connect(url, { allowInsecureHttp: true, proxy: proxy.url });
    await proxied.rerank(rerank);
    expect(proxy.seen.map(({ method }) => method)).toEqual(["CONNECT"]);
    await Promise.all([direct.close(), proxied.close()]);
  },
);

describe("the variables", () => {
  const address = "http://proxy.example:8080";
  const [http, https] = [new URL("http://api.example.com"), new URL("https://api.example.com")];

  test.each<[url: URL, name: string, used: boolean]>([
    [http, "http_proxy", true],
    // A request's header `Proxy` sets it in a program that runs as CGI (httpoxy).
    [http, "HTTP_PROXY", false],
    [http, "https_proxy", false],
    [http, "ALL_PROXY", true],
    [https, "https_proxy", true],
    [https, "HTTPS_PROXY", true],
    [https, "http_proxy", false],
  ])("for %s the variable %s counts: %s", (url, name, used) => {
    expect(proxyFromEnvironment(url, { [name]: address })?.href).toBe(used ? `${address}/` : undefined);
  });

  test.each<[entry: string, hosts: string, excepted: boolean]>([
    ["example.com", "example.com api.example.com a.b.example.com EXAMPLE.COM", true],
    [".example.com", "example.com api.example.com", true],
    ["example.com.", "example.com api.example.com", true],
    ["example.com", "badexample.com example.com.evil.test example.org", false],
    ["api.example.com", "example.com", false],
    ["example.com:8443", "example.com", false],
    ["example.com:443", "example.com api.example.com", true],
    ["10.0.0.0/8", "10.1.2.3", true],
    ["10.0.0.0/8", "11.1.2.3", false],
    ["fd00::/8", "[fd00::1]", true],
    [" other.test , example.com ", "example.com", true],
    ["*", "anything.test", true],
    ["", "example.com", false],
  ])("NO_PROXY=%s excepts %s: %s", (entry, hosts, excepted) => {
    for (const host of hosts.split(" "))
      expect([host, isExcepted(new URL(`https://${host}`), entry)]).toEqual([host, excepted]);
  });
});
