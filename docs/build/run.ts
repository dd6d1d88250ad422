import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { operations } from "../lab/calls.js";
import { type Course, run, runLoop } from "../lab/experiment.js";
import { presets } from "../lab/presets.js";
import { publishedForms } from "./addresses.js";
import { writeApiPages } from "./api.js";
import { publishRevisions } from "./contract.js";
import { changelogFeed, place } from "./head.js";
import { type SitePage, sectionsOf, writeLlmsTexts } from "./llms.js";
import type { Page } from "./markdown.js";
import { contractPages } from "./pages.js";

// What the labs of the pages show: each call with each cause, run against the test service when the site is built.

/** Both lanes of each, by operation and cause. */
export async function labPart(): Promise<Page> {
  const shown: Record<string, readonly Course[]> = {};
  // The timers of a service that stalls keep no process alive.
  const alive = setInterval(() => {}, 1000);
  const experiments = operations.flatMap((operation) =>
    presets.map((preset) => ({ operation, preset, responseMs: 150 })),
  );
  // What a first failure loads is no part of what is shown.
  await Promise.all(experiments.map(run));
  // One after the other, and again where the machine was busy: that would be told as a slow client.
  for (const experiment of experiments)
    for (let runs = 0, isEven = false; runs < 5 && !isEven; runs++) {
      const lanes = [await run(experiment), await runLoop(experiment)];
      const [one = 0, other = 0] = lanes.map(({ stretches: [first] }) => first?.to);
      isEven = Math.abs(one - other) < 25;
      shown[`${experiment.operation} ${experiment.preset.id}`] = lanes;
    }
  clearInterval(alive);
  return { path: "parts/lab.json", text: JSON.stringify(shown) };
}

// Writes the docs site to site/; with --serve, serves it instead and follows changes; with --update-outputs, first writes
// what the blocks of the guides print into them.

const root = fileURLToPath(new URL("../..", import.meta.url));
const docs = path.join(root, "docs");
const site = path.join(root, "site");
const generated = path.join(docs, "generated");

if (process.argv.includes("--update-outputs")) {
  const { updateOutputs } = await import("./runBlocks.js");
  await updateOutputs();
}
await writeGenerated([
  ...(await contractPages()).filter(({ path: name }) => !/^parts\//.test(name)),
  await labPart(),
]);
await writeApiPages(docs);
if (process.argv.includes("--serve")) {
  await vitepress("dev");
} else {
  await vitepress("build");
  await publishFiles();
  // It lists what has just been generated.
  const { sidebar } = await import(new URL("../.vitepress/sidebar.ts", import.meta.url).href);
  await writeFile(path.join(site, "changes.xml"), await changelogFeed(place));
  await writeLlmsTexts({ docs, site, place }, await sitePages(), sectionsOf(sidebar));
}

async function writeGenerated(written: readonly Page[]): Promise<void> {
  await rm(generated, { recursive: true, force: true });
  for (const { path: name, text } of written) {
    const file = path.join(generated, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, `${text.trim()}\n`);
  }
}

async function vitepress(command: "build" | "dev"): Promise<void> {
  const program = path.join(docs, "node_modules/vitepress/bin/vitepress.js");
  const child = spawn(process.execPath, [program, command, docs], { stdio: "inherit" });
  // Whoever stops this program stops the server too.
  process.once("SIGTERM", () => child.kill());
  const [exitCode, signal] = await once(child, "exit");
  if (exitCode !== 0 && !(command === "dev" && signal !== null)) process.exit(Number(exitCode ?? 1));
}

// The documents as the package ships them, and the data of the tables.
async function publishFiles(): Promise<void> {
  for (const name of publishedForms) {
    await cp(path.join(root, "dist", name), path.join(site, name)).catch(() => {
      throw new Error(`dist/${name} is missing: npm run build writes it.`);
    });
  }
  await cp(path.join(root, "dist/skills/tunerank/SKILL.md"), path.join(site, "skill.md"));
  await cp(path.join(root, "dist/overlays"), path.join(site, "overlays"), { recursive: true });
  // The typeface and its licence stand beside each other.
  const typeface = path.join(docs, "node_modules/@fontsource-variable/figtree");
  await cp(path.join(typeface, "LICENSE"), path.join(site, "assets/OFL.txt"));
  await publishRevisions(site);
  await cp(path.join(root, "contract/conformance"), path.join(site, "conformance"), {
    recursive: true,
    filter: (source) =>
      path.extname(source) === "" ? !/(python|go)$/.test(source) : source.endsWith(".json"),
  });
}

async function sitePages(): Promise<SitePage[]> {
  const files = (await readdir(docs, { recursive: true }))
    .map((file) => file.split(path.sep).join("/"))
    .filter((file) => file.endsWith(".md") && !/(^|\/)(node_modules|parts|browser|\.vitepress)\//.test(file));
  const found = files.map((source) => ({ source, target: source.replace(/^generated\//, "") }));
  return found.sort((a, b) => a.target.localeCompare(b.target));
}
