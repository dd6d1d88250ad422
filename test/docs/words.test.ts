import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { writtenPages } from "../../docs/build/blocks.js";
import { root } from "../support/project.js";

const read = (file: string): string => readFileSync(path.join(root, file), "utf8");
const wordsOf = (text: string): number => text.split(/\s+/).filter((word) => word !== "").length;
const withoutTables = (text: string): string =>
  text.replaceAll(/<!-- begin: ([\w-]+) -->.*?<!-- end: \1 -->/gs, "");

const pages = writtenPages();

test("the guides, the recipes and the home page have at most 36,000 words", () => {
  const words = pages.map((page) => wordsOf(read(`docs/${page}`)));
  expect(words.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(36_000);
});

test.each([
  ...pages.map((page) => [`docs/${page}`, 2500] as const),
  ["README.md", 700] as const,
  ["CONTRIBUTING.md", 900] as const,
  ["bench/NOTES.md", 1500] as const,
])("%s has at most %i words besides generated tables", (file, most) => {
  expect(wordsOf(withoutTables(read(file)))).toBeLessThanOrEqual(most);
});

test("what builds the site has at most 4,500 lines", () => {
  const files = ["docs/build", "docs/lab", "docs/.vitepress"].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(ts|vue|css)$/.test(name) && !/^(cache|dist)/.test(name))
      .map((name) => path.join(folder, name)),
  );
  const lines = files.map((file) => read(file).split("\n").length - 1);
  expect(lines.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(4_500);
});
