import assert from "node:assert/strict";
import { Agent } from "undici";
import { isStatusError } from "../../../src/index.js";
import { certificate, certificateKey } from "../../../test/support/certificate.js";
import { startNginxHttp2 } from "../programs/proxies.js";
import { Service } from "../service.js";
import { clientOf, type Proof } from "./proof.js";

const calls = 10_000;
const lanes = 64;

/** HTTP/2 through a dispatcher of undici, while nginx reads its configuration again. */
export const http2: readonly Proof[] = [
  {
    needs: "nginx",
    name: `of ${calls} reranks and ${calls} resumes over HTTP/2, with a reload in the middle, no resume ran twice and each that failed says so`,
    async prove() {
      const service = await new Service().start();
      const files = { "cert.pem": certificate, "key.pem": certificateKey };
      const running = await startNginxHttp2(service.port, files);
      const dispatcher = new Agent({ allowH2: true, connect: { ca: certificate } });
      const client = clientOf(`https://localhost:${running.port}`, { dispatcher });
      try {
        let next = 0;
        const unknown: string[] = [];
        // What never ran may be asked for again; of the rest the client says that it does not know.
        const failed = (name: string) => (error: unknown) => {
          assert.ok(isStatusError(error));
          if (error.executed === "no") assert.equal(service.ran.get(name), undefined, name);
          unknown.push(name);
        };
        const lane = async (): Promise<void> => {
          for (let i = next++; i < calls; i = next++) {
            if (i === calls / 2) running.program.reload();
            const [rerank, resume] = [`rerank-${i}`, `resume-${i}`];
            await client.rerank({ query: rerank, documents: ["d"] }).then(undefined, failed(rerank));
            await client.reinforcementFineTuningJobs.resume(resume).then(undefined, failed(resume));
          }
        };
        await Promise.all(Array.from({ length: lanes }, lane));
        for (let i = 0; i < calls; i++) {
          const [rerank, resume] = [`rerank-${i}`, `resume-${i}`];
          assert.ok(service.ran.has(rerank) || unknown.includes(rerank), `${rerank} was lost`);
          assert.ok(service.ran.has(resume) || unknown.includes(resume), `${resume} was lost`);
          assert.ok((service.ran.get(resume) ?? 0) <= 1, `${resume} ran twice`);
        }
        // undici 7 gives up all streams of a connection that is to end; undici 8 moves them.
        assert.ok(unknown.length <= 2 * lanes, `${unknown.length} are unknown`);
      } finally {
        await client.close();
        await dispatcher.destroy();
        await running.program.stop();
        await service.stop();
      }
    },
  },
];
