import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { writtenPages } from "../../docs/build/blocks.js";
import { helpOf } from "../../src/cli/help.js";
import { commands } from "../../src/cli/program.js";
import { root } from "../support/project.js";

// Words that are always wrong here, with the field's word for each.
const instead: readonly (readonly [wrong: RegExp, right: string])[] = [
  [/\banswer(s|ed|ing)?\b/i, "response, respond"],
  [/\bstand-ins?\b/i, "mock server, test service"],
  [/\bprivate authorit/i, "custom CA"],
  [/\bbecame of\b/i, "Did it run?"],
  [/\bonce more\b/i, "retry"],
  [/\brepeatable\b/i, "idempotent"],
];

// Where one of them is right: an answer to a question, and names and ids that are published.
const right =
  /questions and answers|short answers?\b|\d answers\b|`[^`]*`|\]\([^)]*\)|answer-quality|support-answers|\bservice\.answer\b|--repeatable|repeatable`|id="[^"]*"/gi;

/** Each line of a text with a word that is wrong, and what to say. */
function wrongWords(text: string): string[] {
  return text.split("\n").flatMap((line) => {
    const said = line.replaceAll(right, "");
    const found = instead.filter(([wrong]) => wrong.test(said));
    return found.map(([, better]) => `${better}: ${line.trim().slice(0, 160)}`);
  });
}

const read = (file: string) => readFileSync(path.join(root, file), "utf8");

// What a program prints, its names and its data are no words of the page.
const proseOf = (markdown: string) => markdown.replaceAll(/^```.*?^```$/gms, "");

describe("the field's words stand in", () => {
  const pages = ["README.md", ".github/SECURITY.md", ...writtenPages().map((page) => `docs/${page}`)];

  test.each(pages)("%s", (page) => {
    expect(wrongWords(proseOf(read(page)))).toEqual([]);
  });

  const helps = commands.map((command) => [`help of ${command.name}`, command] as const);
  test.each(helps)("the %s", (_, command) => {
    expect(wrongWords(helpOf(command, [], 0))).toEqual([]);
  });

  const sources = readdirSync(path.join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.startsWith("generated/"))
    .map((file) => `src/${file.replaceAll("\\", "/")}`);

  test.each(sources)("the messages and hovers of %s", (file) => {
    expect(wrongWords(shownTexts(file))).toEqual([]);
  });
});

/** The texts of a source that a user may read: docstrings, and strings of several words. */
function shownTexts(file: string): string {
  const source = ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true);
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    const docs = ts.getJSDocCommentsAndTags(node).map((each) => each.getText(source));
    texts.push(...docs);
    if (ts.isStringLiteralLike(node) && /\w \w/.test(node.text)) texts.push(node.text);
    if (ts.isTemplateExpression(node))
      texts.push(
        [node.head, ...node.templateSpans.map(({ literal }) => literal)].map(({ text }) => text).join("…"),
      );
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [...new Set(texts)].join("\n");
}

const wordsOf = (text: string): number => text.split(/\s+/).filter((word) => word !== "").length;
const withoutTables = (text: string): string =>
  text.replaceAll(/<!-- begin: ([\w-]+) -->.*?<!-- end: \1 -->/gs, "");

test("the guides, the recipes and the home page have at most 36,000 words", () => {
  const words = writtenPages().map((page) => wordsOf(read(`docs/${page}`)));
  expect(words.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(36_000);
});

test.each([
  ...writtenPages().map((page) => [`docs/${page}`, 2500] as const),
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
