// Small rerank calls, one figure for each setting: each sample in a process of its own, by turns.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { alternate } from "../alternate.js";
import { allClients, bulkClients, judgedClients, overDispatch } from "../contestants.js";
import { control } from "../control.js";
import { runChild } from "../runChild.js";
import { startServer } from "../startServer.js";

// fetch and those above it need thousands of calls before their cost settles, node:http and tunerank 20,000.
const longLoad = { warmUpCalls: 20_000, warmUpMs: 2000, measureMs: 1500 };
const quickLoad = { warmUpCalls: 2000, warmUpMs: 500, measureMs: 700 };

const overTls = { isOverTls: true, clients: [...judgedClients, "undici", "got"] };

/** By name, as `results.json` has them. */
export const calls = {
  cpuPerCall: scenario("CPU per small rerank call, concurrency 16", "cpu", {
    rounds: 9,
    clients: [...allClients, ...overDispatch],
  }),
  cpuOneAtATime: scenario("CPU per small rerank call, one at a time", "cpu", { concurrency: 1 }),
  cpuSlowResponses: scenario("CPU per small rerank call, 64 at once, responses after 20 ms", "cpu", {
    concurrency: 64,
    delayMs: 20,
  }),
  cpuOverTls: scenario("CPU per small rerank call over TLS, concurrency 16", "cpu", overTls),
  connectionsOverTls: scenario("Connections at the server, 16 calls at once over TLS", "connections", {
    ...overTls,
    rounds: 3,
    load: quickLoad,
  }),
  timeOnOneCore: scenario(
    "Time per small rerank call, 64 at once: one process that uses its core fully",
    "time",
    {
      concurrency: 64,
    },
  ),
  bulkCpu: bulk("CPU", "cpu"),
  bulkTime: bulk("time", "time"),
  bulkLongTime: scenario("Bulk: time per small request in a run of 50,000, concurrency 16", "time", {
    clients: ["tunerank", "tunerankDispatcher", "nodeHttp"],
    child: "bulk",
    requests: 50_000,
  }),
};

function bulk(what, figure) {
  const title = `Bulk: ${what} per small request, concurrency 16 (other clients: with p-limit)`;
  return scenario(title, figure, { clients: bulkClients, child: "bulk" });
}

/**
 * @param figure `cpu` or `time` of a call, in microseconds; or `connections`, of all calls of a process
 * @param setting How it is called, by whom and how often; `rerankWith` is the response's name in `responses.js`
 */
export function scenario(title, figure, setting) {
  const { concurrency = 16, delayMs, isOverTls = false, isHttp2, rerankWith, requests = 10_000 } = setting;
  const { rounds = 5, clients = judgedClients, child = "callCost", load = longLoad } = setting;
  const { body = "small", failsWith, mayFailWith, quickLoad: quickly = quickLoad } = setting;
  const unit = figure === "connections" ? "" : (setting.unit ?? "µs");
  const measure = async ({ quick, contestants = clients, ...options }) => {
    const tls = isOverTls ? makeCertificate() : undefined;
    const env = tls && { NODE_EXTRA_CA_CERTS: tls.cert };
    const server = await startServer({ delayMs, tls, isHttp2, rerankWith });
    const kind = { body, failsWith, mayFailWith, requests: quick ? 2000 : requests };
    const input = { baseUrl: server.baseUrl, concurrency, ...kind, ...(quick ? quickly : load) };
    try {
      return await alternate(quick ? 3 : rounds, contestants, async (client) => {
        const before = await connectionsAt(server);
        const figures = await runChild(child, { ...input, client }, { ...options, env });
        const value = { ...figures, connections: (await connectionsAt(server)) - before }[figure];
        return unit === "ms" ? value / 1000 : value;
      });
    } finally {
      await server.close();
      if (tls) rmSync(tls.folder, { recursive: true });
    }
  };
  return { title, unit, measure, setting };
}

async function connectionsAt({ baseUrl }) {
  const { connections } = await control(baseUrl, "GET", "/stats");
  return connections;
}

function makeCertificate() {
  const folder = mkdtempSync(join(tmpdir(), "tunerank-bench-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
  const options = { stdio: ["ignore", "ignore", "pipe"] };
  execFileSync("openssl", ["req", "-x509", ...curve, ...names, "-keyout", key, "-out", cert], options);
  return { folder, key, cert };
}
