// A guide is one file: it reads the same on the site, in the repository, in the package and for an assistant.
import { access, readFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { blocksIn, blocksOf, writtenPages } from "../../docs/build/blocks.js";
import { root } from "../support/project.js";

const pages = writtenPages();

test("there are the pages that people read", () => {
  expect(pages).toEqual(expect.arrayContaining(["index.md", "guide/quickstart.md", "recipes/go.md"]));
});

describe.each(pages)("docs/%s", (page) => {
  const blocks = blocksOf(page);

  test("says of each block what is done with it, and why not", () => {
    for (const { does, why, line, prints } of blocks) {
      expect(does, `line ${line}: run, check or skip-check`).toBeDefined();
      if (does === "skip-check") expect(why, `line ${line}`).not.toBe("");
      // What is only checked prints nothing that was seen.
      if (prints !== undefined) expect(["run", "skip-check"], `line ${line}`).toContain(does);
    }
    const files = blocks.map(({ file }) => file);
    expect(new Set(files).size, `${files}`).toBe(files.length);
  });

  test("has no include, no component, and no block that needs a clone", async () => {
    const raw = await readFile(path.join(root, "docs", page), "utf8");
    // The home page begins with the lab alone, which is nothing to read.
    const text = page === "index.md" ? raw.replace(/^<FailureLab [^>]*\/>$/m, "") : raw;
    expect(text).not.toMatch(/<!--@include|^\s*<<<|^:::|<FailureLab|<TableFilter|\{target=/m);
    // Else GitHub shows what is folded as its summary.
    expect(text).not.toMatch(/<summary>(?!.*<\/summary>$)/m);
    for (const block of blocks)
      expect(block.text).not.toMatch(/npm (ci|run)\b|git clone|(^|\s)(\.\.\/)?(src|examples)\//);
  });

  test("has links that lead somewhere in the repository", async () => {
    const text = await readFile(path.join(root, "docs", page), "utf8");
    for (const [, address = ""] of text.replaceAll(/^```.*?^```/gms, "").matchAll(/\]\(([^)\s]+)[^)]*\)/g)) {
      if (/^([a-z]+:|#)/.test(address)) continue;
      expect(address, "a link of the site").not.toMatch(/^\//);
      await access(path.join(root, "docs", path.dirname(page), address.replace(/#.*/, "")));
    }
  });
});

test("an output without a block above it is refused", () => {
  expect(() => blocksIn("guide/x.md", "```text prints\n1\n```\n")).toThrow("docs/guide/x.md:1: no block");
});

test("what is said between a block and its output is the command of its stand-in, and of no other", () => {
  const [first, second] = blocksIn(
    "guide/x.md",
    "```ts run\na\n```\nWith `npx tunerank mock --fail scale:503`:\n```text prints\n1\n```\n```ts run\nb\n```\n",
  );
  expect([first?.service, first?.prints?.text]).toEqual(["npx tunerank mock --fail scale:503", "1\n"]);
  expect(second?.service).toBeUndefined();
});
