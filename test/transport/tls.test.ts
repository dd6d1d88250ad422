import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import {
  Agent,
  createServer as createHttpsServer,
  createServer as createSecureServer,
  type Server as SecureServer,
} from "node:https";
import {
  type AddressInfo,
  createServer,
  createServer as createTcpServer,
  connect as openSocket,
  type Server,
  type Socket,
} from "node:net";
import path from "node:path";
import type { SecureVersion } from "node:tls";
import { inspect } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { useNoBackoff } from "../support/backoff.js";
import { canaryKey } from "../support/canary.js";
import { certificate, certificateKey, expiredCertificate } from "../support/certificate.js";
import { connect, failureOf, operationCalls, transports } from "../support/clients.js";
import { temporaryFolder } from "../support/project.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { goodJson } from "../support/responses.js";
import { runScript } from "../support/script.js";
import { useSecureServer } from "../support/secureServer.js";
import { textOf } from "../support/withHint.js";

describe("a certificate", () => {
  const plain = useRecordingServer();
  let secure: SecureServer;
  let secureUrl: string;
  let requests: number;
  let key: string | undefined;

  beforeAll(async () => {
    requests = 0;
    secure = createHttpsServer({ cert: certificate, key: certificateKey }, (request, response) => {
      requests += 1;
      key = request.headers.authorization;
      response.end(JSON.stringify({ ...goodJson, url: request.url }));
    }).listen(0, "127.0.0.1");
    await once(secure, "listening");
    secureUrl = `https://localhost:${(secure.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    secure.close();
    secure.closeAllConnections();
  });

  describe.each(transports)("over $name", ({ options }) => {
    test.each(operationCalls)(
      "$operation does not reach a server whose certificate nobody vouches for",
      async ({ call }) => {
        const error = await failureOf(() => call(connect(secureUrl, options)));
        expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "no", codeSource: "transport" });
        expect(error.message).toContain("self-signed certificate");
        expect(requests).toBe(0);
      },
    );

    test("https to a server that speaks plain http did not run", async () => {
      const client = connect(plain.url.replace("http:", "https:"), options);
      const error = await failureOf(() => client.deployments.scale("prod", 1));
      expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "no", codeSource: "transport" });
      expect(plain.requests).toEqual([]);
      // Without OpenSSL's numbers and files, which stand in the cause.
      expect(textOf(error)).toMatch(
        /^\[UNAVAILABLE\] (The request failed: )?TLS: wrong version number; this port may speak plain http\.$/,
      );
      expect(inspect(error.cause)).toContain("SSL routines");
      expect(error.hint).toContain("check scheme and port of baseUrl");
    });

    // A fatal TLS alert: a record that the server does not know. And the greeting of a server of SSH.
    test.each<[speaks: string, bytes: Buffer | string, told: RegExp]>([
      ["TLS", Buffer.from([21, 3, 3, 0, 2, 2, 10]), /The port speaks TLS \(.*\)\. Try https in baseUrl\./],
      ["SSH", "SSH-2.0-x\r\n", /The response is not HTTP \(.*\)\. Try another scheme or port in baseUrl\./],
    ])("plain http to a server that speaks %s is told", async (_, bytes, told) => {
      const server = createTcpServer((socket) => {
        socket.on("error", () => {}).once("data", () => socket.end(bytes));
      });
      await once(server.listen(0, "127.0.0.1"), "listening");
      try {
        const { port } = server.address() as AddressInfo;
        const client = connect(`http://127.0.0.1:${port}`, options);
        const error = await failureOf(() => client.deployments.scale("prod", 1));
        expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "unknown" });
        expect(error.message).toMatch(options.fetch ? /The response is not HTTP/ : told);
        expect(error.message).not.toContain("Try again later");
      } finally {
        server.close();
      }
    });

    test("a call over https reaches a server whose certificate is trusted", async () => {
      const { folder, remove } = await temporaryFolder();
      try {
        const authority = path.join(folder, "ca.pem");
        await writeFile(authority, certificate);
        const script = `
        import { createClient } from "./src/index.ts";
        const client = createClient({ baseUrl: process.env.URL${options.fetch ? ", fetch" : ""} });
        console.log(JSON.stringify(await client.rerank({ query: "q", documents: ["d"] })));
      `;
        const env = { URL: secureUrl, NODE_EXTRA_CA_CERTS: authority };
        const { stdout, stderr } = await runScript(script, env);
        expect(stdout + stderr).toBe(`${JSON.stringify({ ...goodJson, url: "/inference/v1/rerank" })}\n`);
        expect(key).toBe(`Bearer ${canaryKey}`);
      } finally {
        await remove();
        requests = 0;
      }
    });
  });

  test("an expired certificate is not met with advice of NODE_EXTRA_CA_CERTS", async () => {
    const expired = createHttpsServer({ cert: expiredCertificate, key: certificateKey }, () => {});
    await once(expired.listen(0, "127.0.0.1"), "listening");
    const agent = new Agent({ ca: expiredCertificate });
    try {
      const { port } = expired.address() as AddressInfo;
      const client = connect(`https://localhost:${port}`, { agent });
      const error = await failureOf(() => client.deployments.scale("prod", 1));
      expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "no", notRetried: "not-transient" });
      expect(textOf(error)).toBe("[UNAVAILABLE] certificate has expired.");
      expect(error.hint).toBe(
        "The server's certificate has expired, or this machine's clock is wrong. The call was not retried: it would most likely fail again.",
      );
    } finally {
      agent.destroy();
      expired.close();
    }
  });

  test("a certificate of another host says so", async () => {
    const agent = new Agent({ ca: certificate, servername: "other.example.com" });
    try {
      const client = connect(secureUrl, { agent });
      const error = await failureOf(() => client.deployments.scale("prod", 1));
      expect(error.hint).toMatch(/^The server's certificate is for other names: check the host in baseUrl\./);
    } finally {
      agent.destroy();
    }
  });

  test("over node:http a TLS handshake that never ends does so at connectTimeoutMs, and nothing ran", async () => {
    const silent = createTcpServer((socket) => socket.resume()).listen(0, "127.0.0.1");
    await once(silent, "listening");
    try {
      const { port } = silent.address() as AddressInfo;
      const client = connect(`https://127.0.0.1:${port}`, { connectTimeoutMs: 50 });
      const error = await failureOf(() => client.deployments.scale("prod", 1));
      expect(error).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "no", codeSource: "transport" });
      expect(error.message).toContain("50 ms");
    } finally {
      silent.close();
    }
  });
});

describe("a handshake", () => {
  // What balancers do in front of a service that is away: the connection comes to be, its TLS does not.
  const secure = useSecureServer();
  useNoBackoff();

  const ways: readonly (readonly [how: string, end: (socket: Socket) => void])[] = [
    ["closed at once", (socket) => socket.destroy()],
    ["closed after the first words", (socket) => socket.once("data", () => socket.destroy())],
    ["reset after the first words", (socket) => socket.once("data", () => socket.resetAndDestroy())],
  ];

  describe.each(ways)("over node:http a TLS handshake that is %s", (_how, end) => {
    let balancer: Server;
    let away = 0;
    let connections = 0;
    const sockets = new Set<Socket>();

    beforeAll(async () => {
      balancer = createServer((socket) => {
        connections += 1;
        sockets.add(socket.on("error", () => {}));
        if (away-- > 0) end(socket);
        else pipeTo(socket);
      }).listen(0, "127.0.0.1");
      await once(balancer, "listening");
    });
    beforeEach(() => {
      away = connections = 0;
    });
    afterAll(() => {
      balancer.close();
      for (const socket of sockets) socket.destroy();
    });

    function pipeTo(socket: Socket): void {
      const onward = openSocket(secure.port, "127.0.0.1").on("error", () => {});
      sockets.add(onward);
      socket.pipe(onward).pipe(socket);
    }

    function client(maxRetries: number) {
      const { port } = balancer.address() as AddressInfo;
      return connect(`https://localhost:${port}`, { agent: new Agent({ ca: certificate }), maxRetries });
    }

    test.each(operationCalls)("twice does not keep $operation from its service", async ({ call }) => {
      away = 2;
      const { attempts } = await call(client(2)).withResponse();
      expect(attempts).toHaveLength(3);
      expect(secure.requests).toHaveLength(1);
      expect(connections).toBe(3);
    });

    test.each(operationCalls)("each time ends $operation, which never ran", async ({ call }) => {
      away = 10;
      const error = await failureOf(() => call(client(2)));
      expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "no", codeSource: "transport" });
      expect(error.attempts).toHaveLength(3);
      expect(secure.requests).toHaveLength(0);
    });
  });

  const versions: readonly SecureVersion[] = ["TLSv1.2", "TLSv1.3"];

  // With TLS 1.3 the client is done with the handshake before the server has seen that it has no certificate.
  describe.each(versions)("over node:http a server that wants a client certificate, with %s,", (version) => {
    let server: SecureServer;
    let requests = 0;

    beforeAll(async () => {
      server = createSecureServer(
        { cert: certificate, key: certificateKey, requestCert: true, maxVersion: version },
        () => {
          requests += 1;
        },
      ).listen(0, "127.0.0.1");
      await once(server, "listening");
    });
    afterAll(() => {
      server.close();
      server.closeAllConnections();
    });

    test.each(operationCalls)("never runs $operation without one, nor repeats it", async ({ call }) => {
      const agent = new Agent({ ca: certificate });
      const url = `https://localhost:${(server.address() as AddressInfo).port}`;
      const error = await failureOf(() => call(connect(url, { agent, maxRetries: 2 })));
      expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "no", codeSource: "transport" });
      expect(error.attempts).toHaveLength(1);
      expect(error.message).toMatch(/alert/i);
      expect(requests).toBe(0);
    });
  });
});
