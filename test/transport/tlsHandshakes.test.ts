import { once } from "node:events";
import { Agent, createServer as createSecureServer, type Server as SecureServer } from "node:https";
import { type AddressInfo, createServer, connect as openSocket, type Server, type Socket } from "node:net";
import type { SecureVersion } from "node:tls";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { useNoBackoff } from "../support/backoff.js";
import { certificate, certificateKey } from "../support/certificate.js";
import { connect, failureOf, operationCalls } from "../support/clients.js";
import { useSecureServer } from "../support/secureServer.js";

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
