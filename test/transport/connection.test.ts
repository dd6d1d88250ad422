import { Agent, createServer, type ServerResponse } from "node:http";
import { createServer as createHttpsServer, Agent as HttpsAgent } from "node:https";
import {
  createServer as createSocketServer,
  type LookupFunction,
  connect as openSocket,
  type Socket,
  type TcpNetConnectOpts,
} from "node:net";
import { networkInterfaces } from "node:os";
import type { SecureVersion } from "node:tls";
import { inspect } from "node:util";
import { Agent as Dispatcher } from "undici";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Client, ClientOptions, StatusError } from "../../src/index.js";
import { useNoBackoff } from "../support/backoff.js";
import { certificate, certificateKey, expiredCertificate } from "../support/certificate.js";
import { connect, failureOf, operationCalls, transports } from "../support/clients.js";
import { respond, useCountingServer } from "../support/countingServer.js";
import { refusingPort } from "../support/refusingPort.js";
import { goodText } from "../support/responses.js";
import { useSecureServer } from "../support/secureServer.js";
import { ending, serving } from "../support/servers.js";
import { networkError } from "../support/transientCodes.js";
import { until } from "../support/turns.js";
import { textOf } from "../support/withHint.js";

const server = useCountingServer();
const secure = useSecureServer();
useNoBackoff();

const ways = [
  ...transports.map(({ name, options }) => ({ name, options: () => options })),
  { name: "a dispatcher", options: (): ClientOptions => ({ dispatcher: ending(new Dispatcher()) }) },
];

const failure = (url: string, options: ClientOptions): Promise<StatusError> =>
  failureOf(() => connect(url, options).deployments.scale("prod", 1));
const neverRan = { code: "UNAVAILABLE", executed: "no", codeSource: "transport" };

describe.each(transports)("over $name", ({ options }) => {
  test("a connection refused by the machine is UNAVAILABLE, did not run, and says that nothing listens", async () => {
    const refusing = await refusingPort();
    onTestFinished(refusing.close);
    const error = await failure(refusing.url, options);
    expect(error).toMatchObject(neverRan);
    expect(error.cause).toBeInstanceOf(Error);
    expect(error.message).toContain("ECONNREFUSED");
    expect(error.hint).toContain("Nothing listens there");
    expect(error.attempts).toMatchObject([{ number: 1, code: "UNAVAILABLE", cause: error.cause }]);
  });

  test("a host name that does not exist is UNAVAILABLE and did not run", async () => {
    // A label of a name has at most 63 characters: no server has to be asked.
    expect(await failure(`https://${"x".repeat(64)}.invalid`, options)).toMatchObject(neverRan);
  });
});

const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === "::1"),
);

test.runIf(hasIpv6).each(transports)(
  "over $name a base URL may have an IPv6 address",
  async ({ options }) => {
    const port = await serving(createServer(respond), "::1");
    const client = connect(`http://[::1]:${port}`, options);
    expect((await client.rerank({ query: "q", documents: ["d"] })).data).toHaveLength(1);
    await client.close();
  },
);

test.each(ways)(
  "over $name 103 is no response: a connection that then breaks is retried",
  async ({ options }) => {
    let requests = 0;
    const server = createServer((request, response) => {
      requests += 1;
      request.resume();
      if (requests > 1) response.end(goodText);
      else
        response.writeEarlyHints({ link: "</a>; rel=preload" }, () =>
          setTimeout(() => response.destroy(), 50),
        );
    });
    const url = `http://127.0.0.1:${await serving(server)}`;
    const { attempts } = await connect(url, { ...options(), maxRetries: 1 })
      .rerank({ query: "q", documents: ["d"] })
      .withResponse();
    expect(attempts).toMatchObject([{ code: "UNAVAILABLE" }, { httpStatus: 200 }]);
    expect(attempts[0]).not.toHaveProperty("httpStatus");
  },
);

describe("a call that never had a connection", () => {
  // The same error of the network counts by when it comes: before there is a connection nothing can have run. Each code
  // of a network: test/policy/retryDecision.test.ts.
  const code = "ECONNABORTED";

  const named = () => server.url.replace("127.0.0.1", "service.localhost");
  const options = { maxRetries: 2, allowInsecureHttp: true };

  test("over node:http before connecting: a resume never ran, and is repeated", async () => {
    const lookup: LookupFunction = (_name, _options, done) =>
      setImmediate(done, networkError(code, "connect"), "");
    const client = connect(named(), { ...options, agent: new Agent({ lookup } as object) });
    const error = await failureOf(() => client.reinforcementFineTuningJobs.resume("job-1"));
    expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "no", codeSource: "transport" });
    expect(error.attempts).toHaveLength(3);
    expect(server.connections).toBe(0);
  });

  test.each(operationCalls.slice(0, 2))(
    "over node:http after connecting: $operation may have run, and is repeated only where that is safe",
    async ({ call, safe }) => {
      const sockets: Socket[] = [];
      const agent = new Agent();
      Object.assign(agent, {
        createConnection: (to: TcpNetConnectOpts) => sockets[sockets.push(openSocket(to)) - 1],
      });
      server.listen((request) => {
        request.resume().on("error", () => {});
        request.on("end", () => sockets.at(-1)?.destroy(networkError(code, "read")));
      });
      const error = await failureOf(() => call(connect(server.url, { ...options, agent })));
      expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "unknown", codeSource: "transport" });
      expect(server.used).toHaveLength(safe ? 3 : 1);
    },
  );

  describe.each(operationCalls)("over node:http $operation", ({ call }) => {
    test("whose attemptTimeoutMs runs out while connecting never ran, and is repeated", async () => {
      const stalled = new Agent({ lookup: () => {} } as object);
      const client = connect(named(), { ...options, agent: stalled, attemptTimeoutMs: 20 });
      const error = await failureOf(() => call(client));
      expect(error).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "no" });
      expect(error.attempts).toHaveLength(3);
      expect(server.connections).toBe(0);
    });

    test("that got a 421 is retried on another connection", async () => {
      const misdirected = new Set<unknown>();
      server.listen((request, response: ServerResponse) => {
        if (misdirected.size === 0) misdirected.add(request.socket);
        if (misdirected.has(request.socket)) response.statusCode = 421;
        respond(request, response);
      });
      const { attempts } = await call(connect(server.url, options)).withResponse();
      expect(attempts).toMatchObject([{ httpStatus: 421 }, { httpStatus: 200 }]);
      expect(server.used).toEqual([1, 2]);
    });
  });
});

describe("a connection that the server has closed", () => {
  // What a failover does to pooled connections: those there are now lead nowhere; new ones are as good as ever.
  const rerank = (client: Client) => client.rerank({ query: "q", documents: ["d"] });
  const atOnce = (count: number, client: Client) => Array.from({ length: count }, () => rerank(client));

  /** Breaks what the next requests on the connections of now are sent on; the number of requests that met it. */
  function failOver(): { readonly lost: number } {
    const stale: ReadonlySet<Socket> = new Set(server.open);
    const seen = { lost: 0 };
    server.listen((request, response) => {
      if (stale.has(request.socket)) {
        seen.lost += 1;
        request.socket.resetAndDestroy();
      } else respond(request, response);
    });
    return seen;
  }

  describe("over node:http after a failover", () => {
    test("thirty calls on thirty stale connections succeed with two attempts each", async () => {
      const client = connect(server.url, { maxRetries: 2 });
      await Promise.all(atOnce(30, client));
      const seen = failOver();
      const calls = await Promise.all(atOnce(30, client).map((call) => call.withResponse()));
      expect(seen.lost).toBe(30);
      expect(calls.map(({ attempts }) => attempts.length)).toEqual(Array(30).fill(2));
      expect(new Set(server.used.slice(-30)).size).toBe(30);
    });

    test("one call that finds its connection stale ends those that were idle as long", async () => {
      const client = connect(server.url, { maxRetries: 2 });
      await Promise.all(atOnce(30, client));
      const seen = failOver();
      for (let i = 0; i < 10; i++) await rerank(client);
      expect(seen.lost).toBe(1);
      expect(server.connections).toBe(31);
      await until(() => server.open.size === 1);
    });

    test("a connection that was used since is kept", async () => {
      const client = connect(server.url, { maxRetries: 2 });
      const [early, late] = [rerank(client), rerank(client)];
      await Promise.all([early, late]);
      // Two connections; the next calls use the one that was idle for less time, and a third.
      await rerank(client);
      const used = server.used.at(-1);
      const stale = [...server.open][(used ?? 0) === 1 ? 1 : 0];
      server.listen((request, response) => {
        if (request.socket === stale) request.socket.resetAndDestroy();
        else respond(request, response);
      });
      await Promise.all(atOnce(2, client));
      await rerank(client);
      expect(server.connections).toBe(3);
    });

    test("the sockets of a caller's agent to another host are left alone", async () => {
      const port = await serving(createServer({ keepAliveTimeout: 0 }, respond));
      const agent = ending(new Agent({ keepAlive: true }));
      await rerank(connect(`http://127.0.0.1:${port}`, { agent }));
      const client = connect(server.url, { agent, maxRetries: 2 });
      await Promise.all(atOnce(3, client));
      failOver();
      await rerank(client);
      expect(Object.values(agent.freeSockets).map((sockets) => sockets?.length)).toEqual([1, 1]);
    });

    test("the first repeat of a call costs no budget, the others do", async () => {
      const client = connect(server.url, { maxRetries: 2 });
      for (let round = 0; round < 5; round++) {
        server.listen(respond);
        await Promise.all(atOnce(30, client));
        failOver();
        await Promise.all(atOnce(30, client));
      }
      // Ten repeats are what a client has: none of them was spent.
      server.listen((request) => request.socket.destroy());
      const before = server.used.length;
      // Thirty, less those whose call could take the connection that another had just given back.
      const pooled = server.open.size;
      const failed = await Promise.all(Array.from({ length: 30 }, () => failureOf(() => rerank(client))));
      const attempts = failed.reduce((sum, error) => sum + error.attempts.length, 0);
      // The repeat of a call on a pooled connection is free.
      expect(attempts).toBe(30 + pooled + 10);
      expect(server.used.length - before).toBe(attempts);
    });

    test("such a repeat counts against maxRetries", async () => {
      const client = connect(server.url, { maxRetries: 0 });
      await rerank(client);
      failOver();
      const error = await failureOf(() => rerank(client));
      expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "unknown" });
      expect(error.attempts).toHaveLength(1);
    });
  });
});

describe.each(transports)("over $name", ({ options }) => {
  test("https to a server that speaks plain http did not run", async () => {
    const error = await failure(server.url.replace("http:", "https:"), options);
    expect(error).toMatchObject(neverRan);
    expect(server.used).toEqual([]);
    // Without OpenSSL's numbers and files, which stand in the cause.
    expect(textOf(error)).toMatch(
      /^\[UNAVAILABLE\] (The request failed: )?TLS: wrong version number; this port may speak plain http\.$/,
    );
    expect(inspect(error.cause)).toContain("SSL routines");
    expect(error.hint).toContain("check scheme and port of baseUrl");
  });
});

describe.each(ways)(
  "over $name what is no HTTP is named, and asked for once more where that is safe",
  (way) => {
    test.each<[what: string, bytes: Buffer | string, advice?: RegExp]>([
      // A fatal TLS alert: a record that the server does not know.
      ["TLS", Buffer.from([21, 3, 3, 0, 2, 2, 10]), /The port speaks TLS \(.*\)\. Try https in baseUrl\./],
      ["SSH", "SSH-2.0-x\r\n", /The response is not HTTP \(.*\)\. Try another scheme or port in baseUrl\./],
      ["a bare LF", "HTTP/1.1 200 OK\ncontent-length: 2\n\n{}"],
      ["a header of 128 KiB", `HTTP/1.1 200 OK\r\nx-long: ${"x".repeat(131_072)}\r\n\r\n`],
    ])("%s", async (_what, bytes, advice) => {
      let sent = 0;
      const odd = createSocketServer((socket) => {
        socket.once("data", () => {
          sent += 1;
          socket.write(bytes);
        });
      });
      const client = connect(`http://127.0.0.1:${await serving(odd)}`, { ...way.options(), maxRetries: 2 });
      const error = await failureOf(() => client.rerank({ query: "q", documents: ["d"] }));
      expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "unknown" });
      expect(error.message).toMatch(/The (response is not (valid )?HTTP|port speaks TLS)/);
      if (way.name === "node:http") expect(error.message).toMatch(advice ?? "");
      if (advice && way.name !== "a dispatcher") expect(error.message).not.toContain("Try again later");
      expect(sent).toBe(2);
      const resumed = await failureOf(() => client.reinforcementFineTuningJobs.resume("job-1"));
      expect(resumed.attempts).toHaveLength(1);
    });
  },
);

test("an expired certificate is not met with advice of NODE_EXTRA_CA_CERTS", async () => {
  const port = await serving(createHttpsServer({ cert: expiredCertificate, key: certificateKey }, () => {}));
  const agent = ending(new HttpsAgent({ ca: expiredCertificate }));
  const error = await failure(`https://localhost:${port}`, { agent });
  expect(error).toMatchObject({ ...neverRan, notRetried: "not-transient" });
  expect(textOf(error)).toBe("[UNAVAILABLE] certificate has expired.");
  expect(error.hint).toBe(
    "The server's certificate has expired, or this machine's clock is wrong. The call was not retried: it would most likely fail again.",
  );
});

test("a certificate of another host says so", async () => {
  const agent = ending(new HttpsAgent({ ca: certificate, servername: "other.example.com" }));
  const error = await failure(secure.url, { agent });
  expect(error.hint).toMatch(/^The server's certificate is for other names: check the host in baseUrl\./);
});

// What balancers do in front of a service that is away: the connection comes to be, its TLS does not.
test.each<[how: string, end: (socket: Socket) => void]>([
  ["closed at once", (socket) => socket.destroy()],
  ["closed after the first words", (socket) => socket.once("data", () => socket.destroy())],
  ["reset after the first words", (socket) => socket.once("data", () => socket.resetAndDestroy())],
])("over node:http a TLS handshake that is %s twice keeps no resume from its service", async (_how, end) => {
  let connections = 0;
  const balancer = createSocketServer((socket) => {
    connections += 1;
    if (connections < 3) end(socket);
    else socket.pipe(openSocket(secure.port, "127.0.0.1").on("error", () => {})).pipe(socket);
  });
  const agent = ending(new HttpsAgent({ ca: certificate }));
  const client = connect(`https://localhost:${await serving(balancer)}`, { agent, maxRetries: 2 });
  const { attempts } = await client.reinforcementFineTuningJobs.resume("job-1").withResponse();
  expect([attempts.length, secure.requests.length, connections]).toEqual([3, 1, 3]);
});

// With TLS 1.3 the client is done with the handshake before the server has seen that it has no certificate.
describe.each<SecureVersion>(["TLSv1.2", "TLSv1.3"])(
  "a server that wants a client certificate, with %s,",
  (version) => {
    test.each(operationCalls)("never runs $operation without one, nor repeats it", async ({ call }) => {
      let requests = 0;
      const options = { cert: certificate, key: certificateKey, requestCert: true, maxVersion: version };
      const port = await serving(createHttpsServer(options, () => void requests++));
      const agent = ending(new HttpsAgent({ ca: certificate }));
      const error = await failureOf(() =>
        call(connect(`https://localhost:${port}`, { agent, maxRetries: 2 })),
      );
      expect(error).toMatchObject(neverRan);
      expect(error.message).toMatch(/alert/i);
      expect([error.attempts.length, requests]).toEqual([1, 0]);
    });
  },
);
