import { spawnSync } from "node:child_process";
import { alternate, minusMedian } from "../alternate.js";
import { allClients } from "../contestants.js";
import { childEnvironment, childScript } from "../runChild.js";
import { startServer } from "../startServer.js";

export const title = "Process start to first response, minus an empty process";
export const unit = "ms";

export async function measure({ quick, contestants = allClients, node = process.execPath, entry }) {
  const server = await startServer();
  const env = childEnvironment(entry);
  const run = (contestant) => {
    const empty = contestant === "empty process";
    const script = childScript(empty ? "empty" : "firstAnswer");
    const args = empty ? [script] : [script, contestant, server.baseUrl];
    const started = performance.now();
    const { status } = spawnSync(node, args, { stdio: ["ignore", "ignore", "inherit"], env });
    if (status !== 0) throw new Error(`${contestant} ended with ${status}.`);
    return performance.now() - started;
  };
  try {
    const samples = await alternate(quick ? 9 : 25, [...contestants, "empty process"], run);
    return minusMedian(samples, "empty process", contestants);
  } finally {
    await server.close();
  }
}
