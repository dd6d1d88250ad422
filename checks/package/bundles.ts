// A bundle of createClient holds neither the adapters, the testing service nor the command line.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { build } from "esbuild";

const absent = ["dist/testing/", "dist/adapters/", "dist/cli/"];

/** Bundles a page's code, and looks what it holds. */
export async function checkTreeShaking(user: string): Promise<string> {
  const entry = path.join(user, "page.js");
  writeFileSync(entry, 'import { createClient } from "tunerank";\nconsole.log(createClient);\n');
  const { metafile } = await build({
    entryPoints: [entry],
    absWorkingDir: user,
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    metafile: true,
    write: false,
    logLevel: "error",
  });
  const inputs = Object.keys(metafile.inputs);
  const found = inputs.filter((input) => absent.some((folder) => input.includes(folder)));
  if (found.length > 0) throw new Error(`A bundle of createClient holds ${found}.`);
  return `${inputs.length} modules, none of ${absent.join(", ")}`;
}
