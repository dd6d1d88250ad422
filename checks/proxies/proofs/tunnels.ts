import assert from "node:assert/strict";
import { HttpsProxyAgent } from "https-proxy-agent";
import { certificate } from "../../../test/support/certificate.js";
import { freePort } from "../programs/program.js";
import { type RunningProxy, startSquid } from "../programs/proxies.js";
import { Service } from "../service.js";
import { clientOf, failureOf, operations, type Proof } from "./proof.js";

interface Refusal {
  readonly what: string;
  /** What squid is told. */
  readonly lines: string;
  readonly code: string;
  readonly attempts: number;
  /** Whether the service is away. */
  readonly away?: boolean;
}

const refusals: readonly Refusal[] = [
  {
    what: "forbids the tunnel (403)",
    lines: "http_access deny CONNECT",
    code: "PERMISSION_DENIED",
    attempts: 1,
  },
  {
    what: "asks for credentials (407)",
    lines: `auth_param basic program /bin/cat
acl known proxy_auth REQUIRED
http_access deny !known`,
    code: "UNAUTHENTICATED",
    attempts: 1,
  },
  { what: "cannot reach the service (503)", lines: "", code: "UNAVAILABLE", attempts: 3, away: true },
];

/** What squid does to a tunnel. */
export const tunnels: readonly Proof[] = operations.flatMap(([operation, call]): Proof[] => [
  {
    needs: "squid",
    name: `${operation} arrives through a tunnel`,
    prove: () =>
      withSquid("", async (proxy, service) => {
        await call(clientOf(`https://localhost:${service.port}`, { agent: agentOf(proxy) }), "tunnelled");
        assert.deepEqual([...service.ran], [["tunnelled", 1]]);
      }),
  },
  ...refusals.map(
    ({ what, lines, code, attempts, away }): Proof => ({
      needs: "squid",
      name: `${operation} never runs by a proxy that ${what}`,
      prove: () =>
        withSquid(lines, async (proxy, service) => {
          const port = away ? await freePort() : service.port;
          const client = clientOf(`https://localhost:${port}`, { agent: agentOf(proxy) });
          const error = await failureOf(call(client, "refused"));
          assert.deepEqual([error.code, error.executed, error.attempts.length], [code, "no", attempts]);
          assert.match(error.hint, /proxy/);
          assert.deepEqual([...service.ran], []);
        }),
    }),
  ),
  {
    needs: "squid",
    name: `${operation} never runs by a proxy that takes connections and sends no response`,
    prove: () =>
      withSquid("", async (proxy, service) => {
        proxy.program.pause(true);
        const options = { agent: agentOf(proxy), connectTimeoutMs: 100 };
        const error = await failureOf(call(clientOf(`https://localhost:${service.port}`, options), "silent"));
        assert.deepEqual([error.code, error.executed, error.attempts.length], ["DEADLINE_EXCEEDED", "no", 3]);
        assert.deepEqual([...service.ran], []);
      }),
  },
]);

async function withSquid(
  lines: string,
  use: (proxy: RunningProxy, service: Service) => Promise<void>,
): Promise<void> {
  const proxy = await startSquid(lines);
  const service = await new Service(true).start();
  try {
    await use(proxy, service);
  } finally {
    await proxy.program.stop();
    await service.stop();
  }
}

function agentOf({ port }: RunningProxy): HttpsProxyAgent<string> {
  const agent = new HttpsProxyAgent(`http://127.0.0.1:${port}`);
  // For the service behind the tunnel; what the constructor takes is for the proxy.
  Object.assign(agent.options, { ca: certificate });
  return agent;
}
