// The programs of the guides, saved where they find the sources as "tunerank", with the file that some of them upload.
import { cpSync, mkdirSync } from "node:fs";
import path from "node:path";
import { type Block, blocksOf, saveBlocks, writtenPages } from "../../docs/build/blocks.js";
import { root } from "./project.js";

const folder = path.join(root, "reports/blocks");

/** Every block that is run or checked where it stands, of every page. */
export const blocks: readonly Block[] = writtenPages()
  .flatMap(blocksOf)
  .filter(({ does }) => does !== "skip-check");

/** Saves the block of this name; returns its file, in a folder with train.jsonl. */
export function savedBlock(name: string): string {
  const block = blocks.find(({ file }) => file === name);
  if (block === undefined) throw new Error(`No guide has a block with file="${name}".`);
  const own = path.join(folder, block.page.replace(/\.md$/, ""));
  mkdirSync(own, { recursive: true });
  cpSync(path.join(root, "examples/train.jsonl"), path.join(own, "train.jsonl"));
  saveBlocks(block.page, own, [name]);
  return path.join(own, name);
}
