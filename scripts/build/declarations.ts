import { readFileSync } from "node:fs";
import { cp, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import ts from "typescript";
import { entries, stemOf } from "./entries.js";

/** Writes the declarations that the entries reach, for ES modules and, the same texts, for CommonJS. */
export async function writeDeclarations(root: string, dist: string): Promise<void> {
  const declarations = withLibraryTypes(emit(root, dist), root, dist);
  for (const file of reached(declarations, dist)) {
    const copy = path.join(dist, "cjs", path.relative(dist, file));
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, declarations.get(file) ?? "");
    await mkdir(path.dirname(copy), { recursive: true });
    await cp(file, copy);
  }
  // Here ".js" and ".d.ts" are CommonJS.
  const manifest = { type: "commonjs", sideEffects: false };
  await writeFile(path.join(dist, "cjs/package.json"), `${JSON.stringify(manifest)}\n`);
}

function emit(root: string, dist: string): ReadonlyMap<string, string> {
  const host = {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: (diagnostic: ts.Diagnostic) => fail(root, [diagnostic]),
  };
  const file = path.join(root, "scripts/build/tsconfig.json");
  const config = ts.getParsedCommandLineOfConfigFile(file, { outDir: dist }, host);
  if (config === undefined) throw new Error(`${file} cannot be read.`);
  const program = ts.createProgram(config.fileNames, config.options);
  const written = new Map<string, string>();
  const { diagnostics } = program.emit(undefined, (name, text) => written.set(path.resolve(name), text));
  const problems = [...ts.getPreEmitDiagnostics(program), ...diagnostics];
  if (problems.length > 0) fail(root, problems);
  return written;
}

function reached(declarations: ReadonlyMap<string, string>, dist: string): ReadonlySet<string> {
  const found = new Set(entries.map((entry) => path.join(dist, `${stemOf(entry)}.d.ts`)));
  // A set visits what is added to it on the way.
  for (const file of found) {
    const text = declarations.get(file);
    if (text === undefined) throw new Error(`There is no ${path.relative(dist, file)}.`);
    for (const { fileName } of ts.preProcessFile(text).importedFiles) {
      if (fileName.startsWith(".")) {
        found.add(path.join(path.dirname(file), fileName.replace(/\.js$/, ".d.ts")));
      }
    }
  }
  return found;
}

function fail(root: string, diagnostics: readonly ts.Diagnostic[]): never {
  const format = {
    getCanonicalFileName: (name: string) => name,
    getCurrentDirectory: () => root,
    getNewLine: () => "\n",
  };
  throw new Error(ts.formatDiagnostics(diagnostics, format));
}

// The types of what is bundled: users do not have these packages.
const libraries = ["openapi-fetch", "openapi-typescript-helpers"];

/** The declarations with those of bundled libraries among them, in dist/types, and ours referring to them there. */
export function withLibraryTypes(
  declarations: ReadonlyMap<string, string>,
  root: string,
  dist: string,
): Map<string, string> {
  const types = path.join(dist, "types");
  const all = new Map(declarations);
  for (const name of libraries) {
    const file = path.join(root, "node_modules", name, "dist/index.d.mts");
    all.set(path.join(types, `${name}.d.ts`), readFileSync(file, "utf8"));
  }
  for (const [file, text] of all) {
    const folder = path.relative(path.dirname(file), types).split(path.sep).join("/");
    all.set(file, pointTo(text, folder.startsWith(".") ? folder : `./${folder}`));
  }
  return all;
}

function pointTo(text: string, folder: string): string {
  return libraries.reduce(
    (all, name) => all.replaceAll(new RegExp(`from ["']${name}["']`, "g"), `from "${folder}/${name}.js"`),
    text,
  );
}
