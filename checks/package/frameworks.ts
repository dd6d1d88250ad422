// A framework that is too large for every run, with the package beside it as npm installs it. The program is that of the
// docs.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { saveBlocks } from "../../docs/build/blocks.js";
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

function install(tarball: string): void {
  if (!existsSync(inFolder("node_modules/@nestjs"))) {
    const npm = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", folder];
    execFileSync("npm", npm, { stdio: "inherit" });
  }
  const installed = inFolder("node_modules/tunerank");
  rmSync(installed, { recursive: true, force: true });
  mkdirSync(installed);
  execFileSync("tar", ["-xzf", tarball, "-C", installed, "--strip-components=1"]);
}
