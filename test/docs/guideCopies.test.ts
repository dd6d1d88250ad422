// GitHub shows no included code and follows no link of the site: docs/github has copies that read well there.
import { access, readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { githubGuides } from "../../docs/build/githubGuides.js";
import { root } from "../support/project.js";

const written = await githubGuides(root);

test("each copy is what its guide says now; else run `npm run generate`", async () => {
  const names = (await readdir(path.join(root, "docs/github"), { recursive: true }))
    .filter((name) => name.endsWith(".md"))
    .map((name) => path.posix.join("docs/github", name));
  expect(names.sort()).toEqual(Object.keys(written).sort());
  for (const [name, text] of Object.entries(written)) {
    expect(await readFile(path.join(root, name), "utf8"), name).toBe(text);
  }
});

test("each guide and each recipe has a copy, with its code", async () => {
  for (const [folder, copies] of [
    ["docs/guide", "docs/github"],
    ["docs/recipes", "docs/github/recipes"],
  ] as const) {
    for (const name of await readdir(path.join(root, folder))) {
      const source = await readFile(path.join(root, folder, name), "utf8");
      const copy = written[`${copies}/${name}`] ?? "";
      const blocks = copy.match(/^```\w+$/gm)?.length ?? 0;
      expect(blocks, name).toBeGreaterThanOrEqual(source.match(/^<<< /gm)?.length ?? 0);
    }
  }
});

describe.each(Object.entries(written))("%s", (name, text) => {
  test("has no include, no tag of the site, and links that lead somewhere", async () => {
    expect(text).not.toMatch(/<!--@include|^<<<|^:::|<div|<FailureLab|<TableFilter/m);
    for (const [, address = ""] of text.replaceAll(/```.*?^```/gms, "").matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^(https?:|mailto:|#)/.test(address)) continue;
      await access(path.join(root, path.dirname(name), address.replace(/#.*/, "")));
    }
  });
});
