// npm run check:first-hour: programs as each ecosystem's own starter writes them, with the packed package and default
// permissions, against the stand-in. `-- NAME` runs those whose name holds it.
import { cpSync, existsSync, rmSync } from "node:fs";
import path from "node:path";
import type { TestService } from "../../src/testing/index.js";
import { installPacked } from "../installPacked.js";
import { here, tool } from "./processes.js";
import { programs } from "./programs.js";

const [wanted = ""] = process.argv.slice(2);
const { user, tarball, remove } = installPacked();
const installed = tool("tunerank");
rmSync(installed, { recursive: true, force: true });
cpSync(path.join(user, "node_modules/tunerank"), installed, { recursive: true });
const testing = path.join(installed, "dist/testing/index.js");
const { createTestService } = (await import(testing)) as { createTestService(): TestService };
const service = createTestService();
const server = await service.listen();

for (const [name, run] of Object.entries(programs)) {
  if (!name.toLowerCase().includes(wanted.toLowerCase())) continue;
  const started = performance.now();
  service.reset();
  try {
    const found = await run({ service, baseUrl: server.url, tarball });
    console.log(`ok       ${name}: ${found} (${Math.round((performance.now() - started) / 1000)} s)`);
  } catch (error) {
    process.exitCode = 1;
    console.log(`FAILED   ${name}\n${(error as Error).message}`);
  }
}
await server.close();
remove();
for (const made of [
  "aws-lambda/dist",
  "cloudflare-worker/dist",
  "doubles/dist",
  "next/.next",
  "next/app/edge",
  "next/app/node",
  "next/next-env.d.ts",
  ...["bun", "deno", "node-javascript", "node-typescript"].map((name) => `${name}/train.jsonl`),
]) {
  if (existsSync(here(made))) rmSync(here(made), { recursive: true });
}
