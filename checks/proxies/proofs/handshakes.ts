import assert from "node:assert/strict";
import { Agent, type AgentOptions } from "node:https";
import { rootCertificates } from "node:tls";
import { certificate, certificateKey } from "../../../test/support/certificate.js";
import { freePort } from "../programs/program.js";
import { startHaproxy } from "../programs/proxies.js";
import { Service } from "../service.js";
import { clientOf, failureOf, operations, type Proof } from "./proof.js";

/** TLS handshakes that a balancer ends. */
export const handshakes: readonly Proof[] = [
  ...operations.map(
    ([operation, call]): Proof => ({
      needs: "haproxy",
      name: `${operation} over TLS whose backend is away at first arrives once`,
      prove: () => backendAway(call),
    }),
  ),
  ...[
    ["no client certificate", {}] as const,
    ["a client certificate that it does not trust", { cert: certificate, key: certificateKey }] as const,
  ].flatMap(([what, own]) =>
    operations.map(
      ([operation, call]): Proof => ({
        needs: "haproxy",
        name: `${operation} with ${what}, where one is required, never runs and is not repeated`,
        prove: () => certificateRequired(call, own),
      }),
    ),
  ),
];

type Call = (typeof operations)[number][1];

async function backendAway(call: Call): Promise<void> {
  const port = await freePort();
  const proxy = await startHaproxy(
    (own) => `
        frontend clients
          mode tcp
          bind 127.0.0.1:${own}
          default_backend service
        backend service
          mode tcp
          server one 127.0.0.1:${port}`,
  );
  const service = new Service(true);
  let attempts = 0;
  const client = clientOf(`https://localhost:${proxy.port}`, {
    agent: new Agent({ ca: certificate }),
    onAttempt: () => {
      attempts += 1;
      // It is there again before the second attempt.
      if (attempts === 1) void service.start(port);
    },
  });
  try {
    await call(client, "away");
    assert.deepEqual([...service.ran], [["away", 1]]);
    assert.equal(attempts, 2);
  } finally {
    await proxy.program.stop();
    await service.stop();
  }
}

async function certificateRequired(call: Call, own: AgentOptions): Promise<void> {
  const service = await new Service().start();
  const proxy = await startHaproxy(
    (port) => `
        frontend clients
          mode http
          bind 127.0.0.1:${port} ssl crt FOLDER/server.pem ca-file FOLDER/ca.pem verify required ssl-min-ver TLSv1.3
          default_backend service
        backend service
          mode http
          server one 127.0.0.1:${service.port}`,
    { "server.pem": certificate + certificateKey, "ca.pem": rootCertificates[0] ?? "" },
  );
  try {
    const agent = new Agent({ ca: certificate, ...own });
    const error = await failureOf(call(clientOf(`https://localhost:${proxy.port}`, { agent }), "refused"));
    const { executed, code, attempts } = error;
    assert.deepEqual(
      { executed, code, attempts: attempts.length },
      { executed: "no", code: "UNAVAILABLE", attempts: 1 },
    );
    assert.deepEqual([...service.ran], []);
  } finally {
    await proxy.program.stop();
    await service.stop();
  }
}
