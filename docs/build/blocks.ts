// The code of the guides stands in them. This reads it: each block with what its first line says is done with it.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const docs = new URL("../", import.meta.url);

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
