// Counts src without its generated files: lines, lines of code, long files, long functions, long parameter lists, circles;
// with --call, the files and functions that one warm rerank passes (--functions: their names).
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { circlesIn, functionsOf, importsUpwards, lineOf, readImports, sizes } from "./house.js";

if (process.argv.includes("--call")) {
  const program = [
    "--conditions=tunerank-source",
    "--import",
    "tsx",
    "scripts/filesOfCall.ts",
    ...process.argv.slice(3),
  ];
  const root = fileURLToPath(new URL("../", import.meta.url));
  process.exit(spawnSync(process.execPath, program, { cwd: root, stdio: "inherit" }).status ?? 1);
}

// A reader such as `head` closes early.
process.stdout.on("error", () => process.exit());

/** What a file or a function is aimed to have at most. */
const aims = { fileLines: 600, functionLines: 80, parameters: 4 };

interface Found {
  readonly place: string;
  readonly count: number;
}

const src = fileURLToPath(new URL("../src/", import.meta.url));
const names = readdirSync(src, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts") && !name.startsWith(`generated${path.sep}`))
  .sort();
const files = names.map((name) => {
  const text = readFileSync(path.join(src, name), "utf8");
  return ts.createSourceFile(`src/${name.split(path.sep).join("/")}`, text, ts.ScriptTarget.Latest, true);
});

const functions = files.flatMap(functionsOf);
const lengths = files.map((file) => ({ place: file.fileName, count: linesOf(file) }));
const generated = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((name) =>
  name.endsWith(".ts"),
);
console.log(
  `${execFileSync("git", ["ls-files", ":/"], { cwd: src, encoding: "utf8" }).trim().split("\n").length} tracked files`,
);
console.log(
  `${generated.length} files of src, ${files.length} of them by hand: ${sum(lengths)} lines, ${sum(files.map(codeOf))} of code`,
);
const core = sizes();
console.log(`the core of it: ${core.files} files, ${core.lines} lines, ${core.types} types and classes`);
const imports = readImports();
console.log(
  `${circlesIn(imports).flat().length} files in ${circlesIn(imports).length} circles, ${importsUpwards(imports).length} imports upwards`,
);
print(`files over ${aims.fileLines} lines`, lengths, aims.fileLines);
print(
  `functions over ${aims.functionLines} lines`,
  functions.map(({ place, lines }) => ({ place, count: lines })),
  aims.functionLines,
);
print(
  `functions with more than ${aims.parameters} parameters`,
  functions.map(({ place, parameters }) => ({ place, count: parameters })),
  aims.parameters,
);

function linesOf(file: ts.SourceFile): number {
  return file.text.trimEnd().split("\n").length;
}

// Lines on which a token stands: neither blank nor a comment alone.
function codeOf(file: ts.SourceFile): Found {
  const lines = new Set<number>();
  const visit = (node: ts.Node): void => {
    if (ts.isJSDoc(node)) return;
    const children = node.getChildren(file);
    for (const child of children) visit(child);
    if (children.length > 0 || node.getWidth(file) === 0) return;
    for (let line = lineOf(file, node.getStart(file)); line <= lineOf(file, node.getEnd()); line += 1) {
      lines.add(line);
    }
  };
  visit(file);
  return { place: file.fileName, count: lines.size };
}

function sum(found: readonly Found[]): number {
  return found.reduce((total, { count }) => total + count, 0);
}

function print(title: string, found: readonly Found[], most: number): void {
  const over = found.filter(({ count }) => count > most).sort((a, b) => b.count - a.count);
  console.log(`\n${title}: ${over.length}`);
  for (const { place, count } of over) console.log(`  ${String(count).padStart(4)}  ${place}`);
}
