import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { build } from "esbuild";
import { afterAll, expect, test } from "vitest";
import { useCountingServer } from "../support/countingServer.js";
import { root } from "../support/project.js";

// It ends no connection.
const server = useCountingServer();
const folder = mkdtempSync(path.join(tmpdir(), "tunerank-idle-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const program = `
  import { createClient } from "./src/index.ts";
  const client = createClient({ baseUrl: process.env.URL, apiKey: "key-1", keepAliveMs: 600_000 });
  await client.rerank({ query: "q", documents: ["d"] });
  console.log("done");`;

test("a process whose client keeps idle connections for ten minutes ends when its work is done", async () => {
  const outfile = path.join(folder, "idle.mjs");
  const stdin = { contents: program, resolveDir: root, loader: "ts" } as const;
  const conditions = ["tunerank-source"];
  const external = ["https-proxy-agent"];
  await build({
    stdin,
    outfile,
    conditions,
    external,
    absWorkingDir: root,
    bundle: true,
    format: "esm",
    platform: "node",
  });
  const child = spawn(process.execPath, [outfile], {
    env: { URL: server.url },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit").then(([code]) => `ended with ${code}`);
  await once(child.stdout, "data");
  expect(await Promise.race([ended, pause(8000, "still running after 8 s")])).toBe("ended with 0");
  child.kill("SIGKILL");
});
