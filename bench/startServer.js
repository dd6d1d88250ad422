// Starts the server in its own process; always with the Node that runs the bench, so that it is the same for all.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("server.js", import.meta.url));

/** @param how `delayMs` before each response to a rerank; the files of a key and a certificate for TLS */
export async function startServer(how = {}) {
  const child = spawn(process.execPath, [script, JSON.stringify(how)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [port] = await once(child.stdout, "data");
  return {
    baseUrl: `http${how.tls ? "s" : ""}://127.0.0.1:${String(port).trim()}`,
    async close() {
      child.stdin.end();
      await once(child, "exit");
    },
  };
}
