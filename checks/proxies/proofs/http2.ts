import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { certificate, certificateKey } from "../../../test/support/certificate.js";
import { newerNode } from "../../machine.js";
import type { Asked, Outcome } from "../http2Calls.js";
import { NotStarted, type Program } from "../programs/program.js";
import { startNginxHttp2 } from "../programs/proxies.js";
import { Service } from "../service.js";
import type { Proof } from "./proof.js";

const calls = 10_000;
const lanes = 64;
const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const undici8 = pathOf("../../integrations/node_modules/undici-8");

/** HTTP/2 through a dispatcher of undici, while nginx reads its configuration again. */
export const http2: readonly Proof[] = [
  {
    needs: "nginx",
    name: `undici 8, of ${calls} reranks and ${calls} resumes over HTTP/2, with a reload in the middle: each rerank has its response, each resume ran once, and one whose response was cut short says so`,
    async prove() {
      const node = newerNode();
      if (node === undefined || !existsSync(undici8))
        throw new NotStarted("undici 8 and a Node for it come with: npm ci --prefix checks/integrations");
      // What nginx left out, undici moves to the new connection. But when nginx closes the old one, it drops what it has
      // not read: the client asks for a ranking again, not for a resume.
      const { ran, failures } = await reload(node, { undici: undici8, maxRetries: 2 });
      for (const [name, [executed, message]] of Object.entries(failures)) {
        assert.match(name, /^resume/, message);
        assert.match(executed, /^(yes|unknown)$/, `${name}: ${message}`);
      }
      for (const name of names()) assert.ok(ran.has(name), `${name} was lost`);
      for (let i = 0; i < calls; i++) assert.equal(ran.get(`resume-${i}`), 1, `resume-${i}`);
    },
  },
  {
    needs: "nginx",
    name: `undici 7, of ${calls} reranks and ${calls} resumes over HTTP/2, with a reload in the middle: at most those under way failed, each says so, and no resume ran twice`,
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
      for (let i = 0; i < calls; i++) assert.ok((ran.get(`resume-${i}`) ?? 0) <= 1, `resume-${i} ran twice`);
      assert.ok(failed.length <= lanes, `${failed.length} failed`);
    },
  },
];

function names(): string[] {
  return Array.from({ length: calls }, (_, i) => [`rerank-${i}`, `resume-${i}`]).flat();
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
    const { connections, failures } = await called(node, { url, calls, lanes, ...asked }, program);
    assert.ok(connections > 1, "nginx ended no connection");
    return { ran: service.ran, failures };
  } finally {
    await program.stop();
    await service.stop();
  }
}

async function called(node: string, asked: Asked, nginx: Program): Promise<Outcome> {
  const script = pathOf("../http2Calls.ts");
  const options = ["--conditions=tunerank-source", "--import", "tsx"];
  const child = spawn(node, [...options, script, JSON.stringify(asked)], {
    cwd: pathOf(".."),
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
