// Starts the server in its own process; always with the Node that runs the bench, so that it is the same for all.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("server.js", import.meta.url));

export async function startServer() {
  const child = spawn(process.execPath, [script], { stdio: ["pipe", "pipe", "inherit"] });
  const [port] = await once(child.stdout, "data");
  return {
    baseUrl: `http://127.0.0.1:${String(port).trim()}`,
    async close() {
      child.stdin.end();
      await once(child, "exit");
    },
  };
}
