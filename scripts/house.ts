// How the files of src import each other: what test/project/house.test.ts holds, and scripts/count.ts prints.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const src = fileURLToPath(new URL("../src/", import.meta.url));

/** Every file of src by its path below it, such as "call/call.ts", with those that it imports, types included. */
export function readImports(): ReadonlyMap<string, readonly string[]> {
  const files = readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => file.split(path.sep).join("/"));
  return new Map(files.map((file) => [file, importsOf(file).filter((each) => files.includes(each))]));
}

function importsOf(file: string): readonly string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(path.join(src, file), "utf8"), true, true);
  return importedFiles.map(({ fileName }) =>
    fileName === "#platform"
      ? "platform/node.ts"
      : path.posix.join(path.posix.dirname(file), fileName).replace(/\.js$/, ".ts"),
  );
}

/** The rooms from the ground up: a file imports from its own room and from those below. Rooms of one floor are listed in their order. */
export const floors: readonly (readonly string[])[] = [
  ["generated"],
  ["values.ts"],
  ["redact"],
  ["errors"],
  ["options"],
  ["files"],
  ["transport"],
  ["platform"],
  ["policy"],
  ["call"],
  ["ranking"],
  ["wrappers"],
  ["client.ts"],
  ["index.ts"],
  ["bulk"],
  ["engine.ts"],
  ["adapters", "conformance", "testing", "mcp"],
  ["cli"],
];

/** Every import that leads upwards, as "from -> to". */
export function importsUpwards(imports: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const floorOf = (file: string): number =>
    floors.findIndex((rooms) => rooms.includes(file.split("/")[0] ?? ""));
  return [...imports].flatMap(([file, found]) =>
    found
      .filter((each) => {
        const isSibling = floorOf(each) === floorOf(file) && each.split("/")[0] !== file.split("/")[0];
        return isSibling || floorOf(each) > floorOf(file);
      })
      .map((each) => `${file} -> ${each}`),
  );
}

/** Every circle: files that import each other, directly or through others. */
export function circlesIn(imports: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const reached = new Map([...imports.keys()].map((file) => [file, reachedFrom(file, imports)]));
  const left = new Set([...imports.keys()].filter((file) => reached.get(file)?.has(file)));
  const circles: string[][] = [];
  for (const file of left) {
    const circle = [...left].filter((each) => reached.get(file)?.has(each) && reached.get(each)?.has(file));
    for (const each of circle) left.delete(each);
    circles.push(circle.sort());
  }
  return circles;
}

function reachedFrom(start: string, imports: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const found = new Set<string>();
  const waiting = [...(imports.get(start) ?? [])];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (found.has(file)) continue;
    found.add(file);
    waiting.push(...(imports.get(file) ?? []));
  }
  return found;
}

/**
 * Every type, class and function that two files of src have under one name, as "name: files": in the core also those that
 * are not exported.
 */
export function namesTwice(files: ReadonlyMap<string, string> = readTexts()): readonly string[] {
  const places = new Map<string, string[]>();
  for (const [file, text] of files) {
    for (const [, name = ""] of text.matchAll(isCore(file) ? declared : exported))
      places.set(name, [...new Set([...(places.get(name) ?? []), file])]);
  }
  return [...places]
    .filter(([, found]) => found.length > 1)
    .map(([name, found]) => `${name}: ${found.join(", ")}`);
}

const exported = /^export (?:abstract )?(?:async )?(?:class|interface|type|function\*?) (\w+)/gm;
const declared = /^(?:export )?(?:abstract )?(?:async )?(?:class|interface|type|function\*?) (\w+)/gm;

/** Whether a file is one that calls and runs go through. */
export function isCore(file: string): boolean {
  return !/^(adapters|cli|conformance|generated|mcp|testing)\//.test(file);
}

// Of the files of platform/ and what they show, one is chosen; each command of the command line has a `run`.
const alternatives = /^(platform\/|generated\/|transport\/node\/networkErrors\.ts$|cli\/\w+Command\.ts$)/;

function readTexts(): ReadonlyMap<string, string> {
  return textsOf([...readImports().keys()].filter((file) => !alternatives.test(file)));
}

function textsOf(files: readonly string[]): ReadonlyMap<string, string> {
  return new Map(files.map((file) => [file, readFileSync(path.join(src, file), "utf8")]));
}

const typesAndClasses = /^(?:export )?(?:declare )?(?:abstract )?(?:class|interface|type) \w/gm;

// Three files of options/ and wrappers/ are generated, too; each generated file says so in its first line.
function isByHand(file: string): boolean {
  return !readFileSync(path.join(src, file), "utf8").startsWith("// Generated from ");
}

/** How large the core is, and the longest of all files that are written by hand. */
export function sizes(): Readonly<Record<"files" | "lines" | "types" | "longest", number>> {
  const byHand = [...readImports().keys()].filter(isByHand);
  const linesOf = (text: string): number => text.trimEnd().split("\n").length;
  const core = [...textsOf(byHand.filter(isCore)).values()];
  return {
    files: core.length,
    lines: core.reduce((sum, text) => sum + linesOf(text), 0),
    types: core.reduce((sum, text) => sum + (text.match(typesAndClasses)?.length ?? 0), 0),
    longest: Math.max(...[...textsOf(byHand).values()].map(linesOf)),
  };
}

/** The functions of a file: where each stands, and how many lines and parameters it has. */
export function functionsOf(file: ts.SourceFile): { place: string; lines: number; parameters: number }[] {
  const found: ReturnType<typeof functionsOf> = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && "body" in node && node.body !== undefined) {
      const first = lineOf(file, node.getStart(file));
      found.push({
        place: `${file.fileName}:${first + 1} ${nameOf(node, file)}`,
        lines: lineOf(file, node.getEnd()) - first + 1,
        parameters: node.parameters.filter(({ name }) => name.getText(file) !== "this").length,
      });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function nameOf(node: ts.SignatureDeclaration, file: ts.SourceFile): string {
  const named = node.name ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name : undefined);
  return named?.getText(file) ?? (ts.isConstructorDeclaration(node) ? "constructor" : "(anonymous)");
}

/** The line of a position, from 0. */
export function lineOf(file: ts.SourceFile, position: number): number {
  return file.getLineAndCharacterOfPosition(position).line;
}

/** The functions of src with more lines than `most`, as "place: lines". */
export function longFunctions(most: number): readonly string[] {
  const byHand = [...readImports().keys()].filter(isByHand);
  return [...textsOf(byHand)]
    .flatMap(([file, text]) => functionsOf(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)))
    .filter(({ lines }) => lines > most)
    .map(({ place, lines }) => `${place}: ${lines}`);
}
