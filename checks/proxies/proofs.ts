import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, type AgentOptions } from "node:https";
import { createInterface } from "node:readline";
import { rootCertificates } from "node:tls";
import { fileURLToPath } from "node:url";
import { HttpsProxyAgent } from "https-proxy-agent";
import {
  type Client,
  type ClientOptions,
  createClient,
  isStatusError,
  type StatusError,
} from "../../src/index.js";
import { certificate, certificateKey } from "../../test/support/certificate.js";
import { newerNode } from "../machine.js";
import type { Asked, Outcome } from "./http2Calls.js";
import {
  freePort,
  type Program,
  proxies,
  type RunningProxy,
  startHaproxy,
  startNginxHttp2,
  startSquid,
} from "./programs.js";
import { Service } from "./service.js";

/** Something that must hold behind a real proxy. */
interface Proof {
  /** The program it needs. */
  readonly needs: "nginx" | "haproxy" | "squid";
  readonly name: string;
  /** Rejects when it does not hold. */
  prove(): Promise<void>;
}

/** A client with an account and a key. */
function clientOf(baseUrl: string, options: ClientOptions = {}): Client {
  return createClient({ baseUrl, apiKey: "key-of-the-proxies-check", accountId: "proxies", ...options });
}

/** Each operation as a call with this name. */
const operations: readonly (readonly [
  operation: string,
  call: (client: Client, name: string) => PromiseLike<unknown>,
])[] = [
  ["resume", (client, name) => client.reinforcementFineTuningJobs.resume(name)],
  ["rerank", (client, name) => client.rerank({ query: name, documents: ["d"] })],
  ["scale", (client, name) => client.deployments.scale(name, 1)],
  ["upload", (client, name) => client.datasets.upload(name, new Uint8Array(4096), { name: "train.jsonl" })],
];

/** The error a call rejects with. */
async function failureOf(call: PromiseLike<unknown>): Promise<StatusError> {
  try {
    await call;
  } catch (error) {
    if (isStatusError(error)) return error;
    throw error;
  }
  throw new Error("The call succeeded.");
}

const calls = 30;

/** A proxy that is replaced by another: the connections to the first one lead nowhere. */
export const failovers: readonly Proof[] = (["nginx", "haproxy"] as const).map((needs) => ({
  needs,
  name: `${calls} reranks on ${calls} pooled connections survive a restart, with at most two attempts each`,
  async prove() {
    const service = await new Service().start();
    const proxy = proxies.find(({ name }) => name === needs);
    const running = await proxy?.start(service.port, 60_000);
    assert.ok(running);
    const client = clientOf(`http://127.0.0.1:${running.port}`);
    try {
      await rerankAll(client, "before");
      await running.program.restart();
      const attempts = await rerankAll(client, "after");
      assert.ok(Math.max(...attempts) <= 2, `attempts: ${attempts}`);
      assert.equal([...service.ran.keys()].length, 2 * calls);
    } finally {
      await client.close();
      await running.program.stop();
      await service.stop();
    }
  },
}));

async function rerankAll(client: Client, name: string): Promise<number[]> {
  const made = Array.from({ length: calls }, (_, i) =>
    client.rerank({ query: `${name}-${i}`, documents: ["d"] }).withResponse(),
  );
  return (await Promise.all(made)).map(({ attempts }) => attempts.length);
}

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

const perOperation = 10_000;
const lanes = 64;
const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

/** HTTP/2 through a dispatcher of undici, while nginx reads its configuration again. */
export const http2: readonly Proof[] = [
  {
    needs: "nginx",
    name: `undici 8, of ${perOperation} reranks and ${perOperation} resumes over HTTP/2, with a reload in the middle: each rerank has its response, each resume ran once, and one whose response was cut short says so`,
    async prove() {
      const node = newerNode("proxies");
      assert.ok(node, "Node 24 comes with: npm ci --prefix checks/proxies");
      // What nginx left out, undici moves to the new connection. But when nginx closes the old one, it drops what it has
      // not read: the client asks for a ranking again, not for a resume.
      const { ran, failures } = await reload(node, { undici: "undici-8", maxRetries: 2 });
      for (const [name, [executed, message]] of Object.entries(failures)) {
        assert.match(name, /^resume/, message);
        assert.match(executed, /^(yes|unknown)$/, `${name}: ${message}`);
      }
      for (const name of names()) assert.ok(ran.has(name), `${name} was lost`);
      for (let i = 0; i < perOperation; i++) assert.equal(ran.get(`resume-${i}`), 1, `resume-${i}`);
    },
  },
  {
    needs: "nginx",
    name: `undici 7, of ${perOperation} reranks and ${perOperation} resumes over HTTP/2, with a reload in the middle: at most those under way failed, each says so, and no resume ran twice`,
    // It gives up all streams of a connection that is to end, and does not say which of them nginx took. A client
    // has ten retries to spend at once, so some reranks fail with them.
    async prove() {
      const { ran, failures } = await reload(process.execPath, { undici: "undici", maxRetries: 2 });
      const failed = Object.entries(failures);
      for (const [name, [executed, message]] of failed) {
        assert.ok(["no", "unknown", "yes"].includes(executed), `${name}: ${message}`);
        if (executed !== "unknown") assert.equal(ran.has(name), executed === "yes", name);
      }
      for (const name of names()) assert.ok(ran.has(name) || name in failures, `${name} was lost`);
      for (let i = 0; i < perOperation; i++)
        assert.ok((ran.get(`resume-${i}`) ?? 0) <= 1, `resume-${i} ran twice`);
      assert.ok(failed.length <= lanes, `${failed.length} failed`);
    },
  },
];

function names(): string[] {
  return Array.from({ length: perOperation }, (_, i) => [`rerank-${i}`, `resume-${i}`]).flat();
}

// Counts at the service, and what the calls came to.
async function reload(
  node: string,
  asked: Pick<Asked, "undici" | "maxRetries">,
): Promise<{ ran: ReadonlyMap<string, number>; failures: Outcome["failures"] }> {
  const service = await new Service().start();
  const files = { "cert.pem": certificate, "key.pem": certificateKey };
  const { port, program } = await startNginxHttp2(service.port, files);
  try {
    const url = `https://localhost:${port}`;
    const { connections, failures } = await called(
      node,
      { url, calls: perOperation, lanes, ...asked },
      program,
    );
    assert.ok(connections > 1, "nginx ended no connection");
    return { ran: service.ran, failures };
  } finally {
    await program.stop();
    await service.stop();
  }
}

async function called(node: string, asked: Asked, nginx: Program): Promise<Outcome> {
  const script = pathOf("http2Calls.ts");
  const options = ["--conditions=tunerank-source", "--import", "tsx"];
  const child = spawn(node, [...options, script, JSON.stringify(asked)], {
    cwd: pathOf("."),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  let last = "";
  for await (const line of createInterface(child.stdout)) {
    if (line === "half") nginx.reload();
    last = line;
  }
  assert.deepEqual(await ended, [0, null]);
  return JSON.parse(last) as Outcome;
}
