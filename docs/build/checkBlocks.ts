// What is wrong with blocks that are not run: the compiler's word, or a look at their syntax.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import type { Block } from "./blocks.js";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** What is wrong with a block, or what it prints now. */
export interface Outcome {
  readonly block: Block;
  readonly wrong?: string | undefined;
  readonly printed?: string | undefined;
}

/** Where blocks are saved. */
interface Saved {
  readonly folder: string;
  fileOf(block: Block): string;
}

const options = {
  target: "es2022",
  module: "nodenext",
  lib: ["es2022"],
  types: ["node"],
  strict: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
};

/** Compiles the TypeScript among these blocks of a reader's folder, all at once, to JavaScript beside each. */
export function compiled(reader: Saved, blocks: readonly Block[]): Outcome[] {
  const typed = blocks.filter(({ language, does }) => language === "ts" && does !== "skip-check");
  const files = typed.map((block) => reader.fileOf(block));
  writeFileSync(
    path.join(reader.folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: options, files }),
  );
  const compiler = path.join(root, "node_modules/typescript/bin/tsc");
  const { stdout } = spawnSync(process.execPath, [compiler, "-p", reader.folder], {
    encoding: "utf8",
    cwd: reader.folder,
  });
  // It names no file: then nothing was compiled.
  if (/^error TS/m.test(stdout)) throw new Error(stdout);
  return typed.flatMap((block) => {
    const own = path.relative(reader.folder, reader.fileOf(block));
    const found = stdout.split("\n").filter((line) => line.startsWith(`${own}(`));
    return found.length === 0 ? [] : [{ block, wrong: found.join("\n") }];
  });
}

const checks: Readonly<Record<string, (file: string, text: string) => string | undefined>> = {
  // It was compiled.
  ts: () => undefined,
  js: (file) => complaintOf(process.execPath, "--check", file),
  sh: (file) => complaintOf("sh", "-n", file),
  json: (_, text) => {
    for (const line of text.startsWith("{\n") ? [text] : text.trim().split("\n")) JSON.parse(line);
    return undefined;
  },
  yaml: (_, text) => void parse(text),
};

/** What is wrong with a block that is only checked. */
export function wrongWith(reader: Saved, block: Block): string | undefined {
  const { does, language, text } = block;
  if (does === undefined) return "It does not say what is done with it: run, check or skip-check.";
  const check = checks[language];
  if (check === undefined) return `Nothing checks ${language}: run it, or say why not with skip-check.`;
  try {
    return check(reader.fileOf(block), text);
  } catch (error) {
    return (error as Error).message;
  }
}

function complaintOf(program: string, ...args: string[]): string | undefined {
  const { status, stderr } = spawnSync(program, args, { encoding: "utf8" });
  return status === 0 ? undefined : stderr;
}
