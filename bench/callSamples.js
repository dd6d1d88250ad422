// Small rerank calls in some setting, by turns: each sample in a process of its own.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { alternate } from "./alternate.js";
import { judgedClients } from "./contestants.js";
import { runChild } from "./runChild.js";
import { startServer } from "./startServer.js";

// fetch and those above it need thousands of calls before their cost settles, node:http tens of thousands.
const load = { warmUpCalls: 5000, warmUpMs: 2000, measureMs: 1500 };
const quickLoad = { warmUpCalls: 2000, warmUpMs: 500, measureMs: 700 };

/**
 * @param figure `cpu` or `time` of a call, in microseconds
 * @param setting how many calls at once, how long the server takes, whether over TLS
 */
export async function measureCalls(figure, setting, { quick, contestants = judgedClients, ...child }) {
  const { concurrency, rounds = 5, delayMs, isOverTls = false } = setting;
  const folder = mkdtempSync(join(tmpdir(), "tunerank-bench-"));
  const tls = isOverTls ? certificateIn(folder) : undefined;
  const server = await startServer({ delayMs, tls });
  const input = { baseUrl: server.baseUrl, body: "small", concurrency, ...(quick ? quickLoad : load) };
  const env = tls && { NODE_EXTRA_CA_CERTS: tls.cert };
  try {
    return await alternate(quick ? 3 : rounds, contestants, async (client) => {
      const figures = await runChild("callCost", { ...input, client }, { ...child, env });
      return figures[figure];
    });
  } finally {
    await server.close();
    rmSync(folder, { recursive: true });
  }
}

function certificateIn(folder) {
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
  const options = { stdio: ["ignore", "ignore", "pipe"] };
  execFileSync("openssl", ["req", "-x509", ...curve, ...names, "-keyout", key, "-out", cert], options);
  return { key, cert };
}
