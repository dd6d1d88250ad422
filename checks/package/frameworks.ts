// Frameworks that are too large for every run, with the package beside them as npm installs it. The programs are those
// of the docs.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { blockOf, saveBlocks } from "../../docs/build/blocks.js";
import { checkService } from "./service.js";
import { runNode } from "./tool.js";

const folder = fileURLToPath(new URL("large/", import.meta.url));
const inFolder = (file: string): string => path.join(folder, file);

/** A Nest service in TypeScript, compiled as its own starter does, with the client injected. */
export async function checkNest(tarball: string): Promise<string> {
  install(tarball);
  saveBlocks("recipes/express-nest.md", inFolder("nest"), ["main.ts"]);
  await runNode([inFolder("node_modules/typescript/bin/tsc"), "-p", inFolder("nest")]);
  return await checkService([inFolder("nest/dist/main.js")], folder, "/search");
}

/** A Next app: built without an environment, then served with one, and called. */
export async function checkNext(tarball: string): Promise<string> {
  install(tarball);
  const next = inFolder("node_modules/next/dist/bin/next");
  const project = inFolder("next");
  const built = path.join(project, ".next");
  rmSync(built, { recursive: true, force: true });
  writeRoutes(path.join(project, "app"));
  // Only what keeps it from sending anything itself.
  const env = { PATH: process.env.PATH ?? "", HOME: project, NEXT_TELEMETRY_DISABLED: "1" };
  execFileSync(process.execPath, [next, "build"], { cwd: project, env, stdio: ["ignore", "pipe", "pipe"] });
  const found: string[] = [];
  for (const route of ["/node", "/edge"]) {
    const port = await freePort();
    const args = [next, "start", "-H", "127.0.0.1", "-p", `${port}`];
    found.push(await checkService(args, project, route, { port, line: "Ready in" }));
  }
  rmSync(built, { recursive: true });
  return found.join("; ");
}

function writeRoutes(app: string): void {
  const program = blockOf("recipes/nextjs.md", "route.js").text;
  const routes = { node: program, edge: `${program}\nexport const runtime = "edge";\n` };
  for (const [runtime, text] of Object.entries(routes)) {
    mkdirSync(path.join(app, runtime), { recursive: true });
    writeFileSync(path.join(app, runtime, "route.js"), text);
  }
}

function install(tarball: string): void {
  if (!existsSync(inFolder("node_modules/next"))) {
    const npm = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", folder];
    execFileSync("npm", npm, { stdio: "inherit" });
  }
  const installed = inFolder("node_modules/tunerank");
  rmSync(installed, { recursive: true, force: true });
  mkdirSync(installed);
  execFileSync("tar", ["-xzf", tarball, "-C", installed, "--strip-components=1"]);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
