import { readFileSync } from "node:fs";
import { cp, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import ts from "typescript";
import { entries, stemOf } from "./entries.js";

/**
 * Writes the declarations that the entries reach, for ES modules and, the same texts, for CommonJS. Each has a map to its
 * source, which is in dist/src: so an editor's "go to definition" shows code.
 */
export async function writeDeclarations(root: string, dist: string): Promise<void> {
  const emitted = emit(root, dist);
  const declarations = withLibraryTypes(emitted, root, dist);
  for (const file of reached(declarations, dist)) {
    const name = path.relative(dist, file);
    for (const folder of [dist, path.join(dist, "cjs")]) {
      const target = path.join(folder, name);
      await mkdir(path.dirname(target), { recursive: true });
      await writeFile(target, declarations.get(file) ?? "");
    }
    const map = emitted.get(`${file}.map`);
    if (map !== undefined) await writeSource(name, map, root, dist);
  }
  // Here ".js" and ".d.ts" are CommonJS.
  const manifest = { type: "commonjs", sideEffects: false };
  await writeFile(path.join(dist, "cjs/package.json"), `${JSON.stringify(manifest)}\n`);
}

async function writeSource(name: string, map: string, root: string, dist: string): Promise<void> {
  const source = name.replace(/\.d\.ts$/, ".ts");
  const copy = path.join(dist, "src", source);
  await mkdir(path.dirname(copy), { recursive: true });
  await cp(path.join(root, "src", source), copy);
  for (const folder of [dist, path.join(dist, "cjs")]) {
    const file = path.join(folder, `${name}.map`);
    const sources = [path.relative(path.dirname(file), copy).split(path.sep).join("/")];
    await writeFile(file, JSON.stringify({ ...JSON.parse(map), sources }));
  }
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
export const libraries: readonly string[] = ["openapi-fetch", "openapi-typescript-helpers"];

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
    if (file.endsWith(".map")) continue;
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

/** The packages in node_modules that files come from, and those whose types are in the package, by name. */
export function packagesIn(files: readonly string[]): readonly string[] {
  const found = files.flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []);
  return [...new Set([...found, ...libraries])].sort();
}

/** Writes below the text of LICENSE the names, versions and copyrights of what the package contains of others. */
export async function writeLicense(root: string, files: readonly string[]): Promise<void> {
  const own = path.join(root, "LICENSE");
  const [text = ""] = readFileSync(own, "utf8").split("\n---\n");
  const texts: string[] = [];
  const others = packagesIn(files).map((name) => {
    const folder = path.join(root, "node_modules", name);
    const { version, license } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
    const whole = readFileSync(path.join(folder, "LICENSE"), "utf8");
    if (license === "Apache-2.0") {
      texts.push(`\n---\n\n${whole}`);
      return `${name} ${version}: under the license ${license}, below\n`;
    }
    const [holder] = /^\s*(?:Copyright )?\(c\) .*$/im.exec(whole) ?? [];
    if (license !== "MIT" || holder === undefined)
      throw new Error(`${name} is not under the license MIT or Apache-2.0, or names no copyright.`);
    return `${name} ${version}: ${holder.trim()}\n`;
  });
  await writeFile(
    own,
    `${text}\n---\n\nThe published package contains parts of these, under the same license unless said otherwise:\n\n${others.join("")}${[...new Set(texts)].join("")}`,
  );
}
