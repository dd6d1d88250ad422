import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { callers } from "../check/folders.js";
import type { Tool } from "../check/tool.js";
import { versions } from "../check/versions.js";
import { cargoBuild, runBuilt } from "./cargo.js";

export const progenitor: Tool = {
  name: "progenitor",
  language: "Rust",
  version: versions.progenitor,
  needs: ["Cargo"],
  documents: ["openapi-3.0.json"],
  unsupported: ["upload"],
  note: "knows no multipart form, and takes a default answer for a second type of success: given the document without both",
  async generate({ document, folder }) {
    await cp(callers("progenitor"), folder, { recursive: true });
    const manifest = join(folder, "Cargo.toml");
    await writeFile(manifest, (await readFile(manifest, "utf8")).replace("VERSION", versions.progenitor));
    const reduced = withoutUnsupported(JSON.parse(await readFile(document, "utf8")));
    await writeFile(join(folder, "openapi.json"), JSON.stringify(reduced));
  },
  // The client is made by a macro while the caller is compiled.
  compile: ({ folder }) => cargoBuild(folder),
  call: (_, env) => runBuilt("call-progenitor", env),
};

interface Paths {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { responses: Record<string, unknown> }>>>>;
}

function withoutUnsupported<Document extends Paths>(document: Document): Document {
  const paths = Object.entries(document.paths).filter(([path]) => !path.endsWith(":upload"));
  for (const { responses } of paths.flatMap(([, item]) => Object.values(item))) delete responses.default;
  return { ...document, paths: Object.fromEntries(paths) };
}
