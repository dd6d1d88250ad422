import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type Context, UsageError } from "./context.js";

/** What each file of the skill has: a file without it is somebody else's. */
export const ours = "<!-- Written by `tunerank skill`: a later version writes over it. -->";

export async function run({ options, terminal }: Context): Promise<void> {
  const folder = fileURLToPath(new URL("../skills/tunerank/", import.meta.url));
  const read = (file: string): Promise<string> => readFile(path.join(folder, file), "utf8");
  if (options.install === undefined) return terminal.write(await read("SKILL.md"));
  const installed = path.join(options.install, "tunerank");
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = found
    .filter((each) => each.isFile())
    .map((each) => path.relative(folder, path.join(each.parentPath, each.name)));
  for (const file of files) {
    const before = await readFile(path.join(installed, file), "utf8").catch(() => undefined);
    if (before !== undefined && !before.includes(ours))
      throw new UsageError(`${path.join(installed, file)} is not from tunerank: move it away first.`);
  }
  for (const file of files) {
    await mkdir(path.dirname(path.join(installed, file)), { recursive: true });
    await writeFile(path.join(installed, file), await read(file));
  }
  terminal.result({ installed }, `The skill is in ${installed}.`);
}
