import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path, { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

// The code of the guides stands in them. This reads it: each block with what its first line says is done with it.

const docs = new URL("..", import.meta.url);

/** What `npm run test:docs` does with a block: `run` also checks it; a skipped one says why. */
export type Treatment = "run" | "check" | "skip-check";

/** A fenced block of a page, such as ```ts run file="upload.ts". */
export interface Block {
  /** Below docs/, as `guide/upload.md`. */
  readonly page: string;
  readonly line: number;
  readonly language: string;
  readonly does: Treatment | undefined;
  /** Why it is skipped. */
  readonly why: string;
  /** A command that succeeds where the tool is that the block needs; empty where it needs none. */
  readonly needs: string;
  /** The name it is saved under. */
  readonly file: string;
  readonly text: string;
  /** What it prints, as the block `text prints` below it says. */
  readonly prints: { readonly text: string; readonly line: number } | undefined;
  /** The command of the mock server that responds to it, as the page shows it, or undefined where it shows none. */
  readonly service: string | undefined;
}

const fence = /^```(\w+)([^\n]*)\n(.*?)^```$/gms;
const plain = "npx tunerank mock";
const command = /`(npx tunerank mock[^`\n]*)`/g;

/** Every block of a page's Markdown in its order; those that a block prints belong to it. */
export function blocksIn(page: string, markdown: string): Block[] {
  const blocks: Block[] = [];
  let service: string | undefined;
  let end = 0;
  for (const match of markdown.matchAll(fence)) {
    const [whole, language = "", info = "", text = ""] = match;
    const shown = [...markdown.slice(end, match.index).matchAll(command)].at(-1)?.[1];
    const line = markdown.slice(0, match.index).split("\n").length;
    end = match.index + whole.length;
    const last = blocks.at(-1);
    if (/^ prints\b/.test(info)) {
      if (last === undefined || last.prints !== undefined)
        throw new Error(`docs/${page}:${line}: no block above it prints this.`);
      blocks[blocks.length - 1] = { ...last, prints: { text, line }, service: shown ?? last.service };
      // What fails does so for that block alone.
      if (shown === plain) service = shown;
      continue;
    }
    service = shown ?? service;
    blocks.push({
      page,
      line,
      language,
      ...treated(info, `${language}-${line}`),
      text,
      prints: undefined,
      service,
    });
    service = /^npx tunerank mock[^#\n]*/m.exec(text)?.[0].trim() ?? service;
  }
  return blocks;
}

function treated(info: string, unnamed: string): Pick<Block, "does" | "why" | "needs" | "file"> {
  const [, does] = /(?:^| )(run|check|skip-check)(?=[ =]|$)/.exec(info) ?? [];
  const value = (name: string) => new RegExp(` ${name}="([^"]*)"`).exec(info)?.[1] ?? "";
  return {
    does: does as Treatment | undefined,
    why: value("skip-check"),
    needs: value("needs"),
    file: value("file") || unnamed,
  };
}

/** The pages that people wrote, below docs/. */
export function writtenPages(): string[] {
  const pages = ["guide", "recipes"].flatMap((folder) =>
    readdirSync(new URL(folder, docs)).map((name) => `${folder}/${name}`),
  );
  return ["index.md", ...pages.filter((name) => name.endsWith(".md")).sort()];
}

/** The blocks of a page below docs/. */
export function blocksOf(page: string): Block[] {
  return blocksIn(page, readFileSync(new URL(page, docs), "utf8"));
}

/** Saves the blocks of a page under their names, all or those that are named. */
export function saveBlocks(page: string, folder: string, names?: readonly string[]): void {
  mkdirSync(folder, { recursive: true });
  for (const { file, text } of blocksOf(page))
    if (names?.includes(file) ?? /\.\w+$/.test(file)) writeFileSync(join(folder, file), text);
}

/** The block of a page that is saved under this name. */
export function blockOf(page: string, file: string): Block {
  const found = blocksOf(page).find((block) => block.file === file);
  if (found === undefined) throw new Error(`docs/${page} has no block with file="${file}".`);
  return found;
}

// What is wrong with blocks that are not run: the compiler's word, or a look at their syntax.

const root = fileURLToPath(new URL("../..", import.meta.url));

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
