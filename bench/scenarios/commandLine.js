import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { alternate } from "../alternate.js";
import { childScript } from "../runChild.js";
import { startServer } from "../startServer.js";

export const title = "A whole run of the command line: process start to its end, one small call";
export const unit = "ms";

const command = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

export async function measure({ quick, node = process.execPath }) {
  const server = await startServer();
  const env = {
    ...process.env,
    TUNERANK_BASE_URL: server.baseUrl,
    TUNERANK_API_KEY: "bench-key",
    TUNERANK_ACCOUNT_ID: "bench",
  };
  const runs = {
    "tunerank scale": [command, "scale", "prod", "0"],
    nodeHttp: [childScript("firstResponse"), "nodeHttp", server.baseUrl],
    "empty process": [childScript("empty")],
  };
  try {
    return await alternate(quick ? 9 : 25, Object.keys(runs), (name) => {
      const started = performance.now();
      const { status } = spawnSync(node, runs[name], { stdio: ["ignore", "ignore", "inherit"], env });
      if (status !== 0) throw new Error(`${name} ended with ${status}.`);
      return performance.now() - started;
    });
  } finally {
    await server.close();
  }
}
