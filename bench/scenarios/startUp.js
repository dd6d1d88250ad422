import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { alternate, minusMedian } from "../alternate.js";
import { withBundled } from "../bundled.js";
import { allClients, overDispatch } from "../contestants.js";
import { childEnvironment, childScript } from "../runChild.js";
import { startServer } from "../startServer.js";

export const title = "Process start to first response, minus an empty process";
export const unit = "ms";

const shipped = fileURLToPath(new URL("../../dist/index.js", import.meta.url));
// Contestants that are bundled into one file, as a user's program may be; all others are imported from their package.
const bundled = { undiciBundled: "undiciPool", tunerankBundled: "tunerank" };
const all = [...allClients, ...overDispatch, ...Object.keys(bundled)];

export async function measure({ contestants = all, entry = shipped, ...options }) {
  return withBundled(Object.values(bundled), entry, (files) =>
    run(files, { contestants, entry, ...options }),
  );
}

async function run(files, { quick, contestants, node = process.execPath, entry }) {
  const server = await startServer();
  const env = childEnvironment(entry);
  const runOne = (contestant) => {
    const empty = contestant === "empty process";
    const script = childScript(empty ? "empty" : "firstResponse");
    const file = files[bundled[contestant]];
    const args = empty ? [script] : file ? [file, server.baseUrl] : [script, contestant, server.baseUrl];
    const started = performance.now();
    const { status } = spawnSync(node, args, { stdio: ["ignore", "ignore", "inherit"], env });
    if (status !== 0) throw new Error(`${contestant} ended with ${status}.`);
    return performance.now() - started;
  };
  try {
    const samples = await alternate(quick ? 9 : 25, [...contestants, "empty process"], runOne);
    return minusMedian(samples, "empty process", contestants);
  } finally {
    await server.close();
  }
}
