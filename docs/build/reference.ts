import { execFile } from "node:child_process";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";
import { withSamples } from "./samples.js";

/** Where the reference comes from, and where it goes. */
export interface ReferencePlaces {
  readonly root: string;
  readonly docs: string;
  readonly site: string;
}

/** Writes reference/, where requests can be tried, and reference.html, all on one page. */
export async function writeReference({ root, docs, site }: ReferencePlaces): Promise<void> {
  const document = path.join(root, "dist/openapi.json");
  await writeScalar(document, docs, path.join(site, "reference"));
  await writeRedoc(root, document, path.join(site, "reference.html"));
}

async function writeScalar(document: string, docs: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const shown = await withSamples(JSON.parse(await readFile(document, "utf8")));
  await writeFile(path.join(folder, "openapi.json"), JSON.stringify(shown));
  const script = path.join(docs, "node_modules/@scalar/api-reference/dist/browser/standalone.js");
  await cp(script, path.join(folder, "scalar.js"));
  await cp(path.join(docs, "reference/index.html"), path.join(folder, "index.html"));
}

async function writeRedoc(root: string, document: string, file: string): Promise<void> {
  const redocly = createRequire(import.meta.url).resolve("@redocly/cli/bin/cli.js");
  const args = [redocly, "build-docs", document, "--inlineBundle", "--output", file];
  const env = { ...process.env, REDOCLY_TELEMETRY: "off" };
  await promisify(execFile)(process.execPath, args, { cwd: root, env });
  const icon = await readFile(path.join(root, "docs/public/icon.svg"), "utf8");
  await writeFile(file, mended(await readFile(file, "utf8"), icon));
}

const policy = "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:";
const logo = /https:\/\/cdn\.redoc\.ly\/redoc\/logo[\w-]*\.svg/g;
const maker = `<svg xmlns="http://www.w3.org/2000/svg" width="60" height="20"><text y="15" font-family="sans-serif" font-size="14">Redocly</text></svg>`;
const inline = (svg: string) => `data:image/svg+xml,${encodeURIComponent(svg)}`.replaceAll("'", "%27");

// Redoc fetches its maker's logo from elsewhere, which the policy would stop: the name takes its place. It moves by
// the address's hash once it runs, so the links written before must have one.
function mended(html: string, icon: string): string {
  const head = `<meta http-equiv="Content-Security-Policy" content="${policy}"><link rel="icon" href="${inline(icon)}">`;
  return html
    .replace("<head>", `<head>\n  ${head}`)
    .replaceAll(logo, inline(maker))
    .replaceAll(' href="/', ' href="#/');
}
