// Writes dist/, all that is made for the package.
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { about, plainGuides } from "../../docs/build/llms.js";
import { commandLineBuild, mcpBuild } from "./commandLine.js";
import { manPage, skillFiles } from "./commandTexts.js";
import { writeContract, writeRevision } from "./contract.js";
import { writeDeclarations, writeLicense } from "./declarations.js";
import { writeLibrary } from "./library.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
const dist = path.join(root, "dist");

await rm(dist, { recursive: true, force: true });
await writeContract(path.join(root, "openapi.yaml"), dist);
await writeRevision(root, path.join(dist, "revisions"));
const inputs = new Set(await writeLibrary(root, dist));
for (const part of [commandLineBuild, mcpBuild]) {
  const { metafile } = await build({ ...part, absWorkingDir: root, outdir: "dist/cli", metafile: true });
  for (const input of Object.keys(metafile?.inputs ?? {})) inputs.add(input);
}
await writeLicense(root, [...inputs]);
await writeFile(path.join(dist, "cli/package.json"), '{"type":"commonjs"}\n');
await writeFile(path.join(dist, "tunerank.1.gz"), manPage());
await writeDeclarations(root, dist);
await writeGuides(root, dist);

/** Writes the guides as Markdown to dist/docs, for people offline and for assistants, and llms.txt, their list. */
async function writeGuides(root: string, dist: string): Promise<void> {
  const guides = await plainGuides(path.join(root, "docs"));
  await mkdir(path.join(dist, "docs/recipes"), { recursive: true });
  for (const { name, text } of guides)
    if (!name.startsWith("../")) await writeFile(path.join(dist, "docs", name), text);
  for (const [name, text] of Object.entries(skillFiles(guides))) {
    const file = path.join(dist, "skills/tunerank", name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  const listed = guides.map(
    ({ name, title, description }) => `- [${title}](${path.posix.join("docs", name)}): ${description}`,
  );
  await writeFile(
    path.join(dist, "llms.txt"),
    `${about}\n- [SKILL.md](skills/tunerank/SKILL.md): a skill for coding agents\n\n## Guides\n\n${listed.join("\n")}\n`,
  );
}
