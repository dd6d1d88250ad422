import assert from "node:assert/strict";
import type { Client } from "../../../src/index.js";
import { proxies } from "../programs/proxies.js";
import { Service } from "../service.js";
import { clientOf, type Proof } from "./proof.js";

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
