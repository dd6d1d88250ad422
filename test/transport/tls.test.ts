import { Agent, createServer as createHttpsServer } from "node:https";
import { createServer, connect as openSocket, type Socket } from "node:net";
import type { SecureVersion } from "node:tls";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import type { ClientOptions, StatusError } from "../../src/index.js";
import { useNoBackoff } from "../support/backoff.js";
import { certificate, certificateKey, expiredCertificate } from "../support/certificate.js";
import { connect, failureOf, operationCalls, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { useSecureServer } from "../support/secureServer.js";
import { ending, serving } from "../support/servers.js";
import { textOf } from "../support/withHint.js";

const plain = useRecordingServer();
const secure = useSecureServer();
useNoBackoff();

const failure = (url: string, options: ClientOptions): Promise<StatusError> =>
  failureOf(() => connect(url, options).deployments.scale("prod", 1));
const neverRan = { code: "UNAVAILABLE", executed: "no", codeSource: "transport" };

describe.each(transports)("over $name", ({ options }) => {
  test("a server whose certificate nobody vouches for is not reached", async () => {
    const error = await failure(secure.url, options);
    expect(error).toMatchObject(neverRan);
    expect(error.message).toContain("self-signed certificate");
    expect(secure.requests).toEqual([]);
  });

  test("https to a server that speaks plain http did not run", async () => {
    const error = await failure(plain.url.replace("http:", "https:"), options);
    expect(error).toMatchObject(neverRan);
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
    const port = await serving(createServer((socket) => socket.once("data", () => socket.end(bytes))));
    const error = await failure(`http://127.0.0.1:${port}`, options);
    expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "unknown" });
    expect(error.message).toMatch(options.fetch ? /The response is not HTTP/ : told);
    expect(error.message).not.toContain("Try again later");
  });
});

test("an expired certificate is not met with advice of NODE_EXTRA_CA_CERTS", async () => {
  const port = await serving(createHttpsServer({ cert: expiredCertificate, key: certificateKey }, () => {}));
  const agent = ending(new Agent({ ca: expiredCertificate }));
  const error = await failure(`https://localhost:${port}`, { agent });
  expect(error).toMatchObject({ ...neverRan, notRetried: "not-transient" });
  expect(textOf(error)).toBe("[UNAVAILABLE] certificate has expired.");
  expect(error.hint).toBe(
    "The server's certificate has expired, or this machine's clock is wrong. The call was not retried: it would most likely fail again.",
  );
});

test("a certificate of another host says so", async () => {
  const agent = ending(new Agent({ ca: certificate, servername: "other.example.com" }));
  const error = await failure(secure.url, { agent });
  expect(error.hint).toMatch(/^The server's certificate is for other names: check the host in baseUrl\./);
});

test("over node:http a TLS handshake that never ends does so at connectTimeoutMs, and nothing ran", async () => {
  const port = await serving(createServer((socket) => socket.resume()));
  const error = await failure(`https://127.0.0.1:${port}`, { connectTimeoutMs: 50 });
  expect(error).toMatchObject({ code: "DEADLINE_EXCEEDED", executed: "no", codeSource: "transport" });
  expect(error.message).toContain("50 ms");
});

// What balancers do in front of a service that is away: the connection comes to be, its TLS does not.
test.each<[how: string, end: (socket: Socket) => void]>([
  ["closed at once", (socket) => socket.destroy()],
  ["closed after the first words", (socket) => socket.once("data", () => socket.destroy())],
  ["reset after the first words", (socket) => socket.once("data", () => socket.resetAndDestroy())],
])("over node:http a TLS handshake that is %s twice keeps no resume from its service", async (_how, end) => {
  let connections = 0;
  const balancer = createServer((socket) => {
    connections += 1;
    if (connections < 3) end(socket);
    else socket.pipe(openSocket(secure.port, "127.0.0.1").on("error", () => {})).pipe(socket);
  });
  const agent = ending(new Agent({ ca: certificate }));
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
      const agent = ending(new Agent({ ca: certificate }));
      const error = await failureOf(() =>
        call(connect(`https://localhost:${port}`, { agent, maxRetries: 2 })),
      );
      expect(error).toMatchObject(neverRan);
      expect(error.message).toMatch(/alert/i);
      expect([error.attempts.length, requests]).toEqual([1, 0]);
    });
  },
);
