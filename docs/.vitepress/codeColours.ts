// Code in the colours of the site, by classes: a style on each word made a long page twice as heavy.
import type { MarkdownOptions } from "vitepress";

type Theme = Extract<MarkdownOptions["theme"], { name?: string }>;
type Transformer = NonNullable<MarkdownOptions["codeTransformers"]>[number];

// A colour stands for a kind of word here; style.css has what each looks like.
const kinds: Readonly<Record<string, readonly string[]>> = {
  m: ["comment", "punctuation.definition.comment"],
  k: ["keyword", "storage", "variable.language", "keyword.operator.new", "entity.name.tag"],
  s: ["string", "punctuation.definition.string", "markup.inline.raw"],
  c: ["constant", "support.constant", "entity.name.type", "support.type.primitive"],
  f: [
    "entity.name.function",
    "support.function",
    "meta.property-name",
    "support.type.property-name",
    "entity.other.attribute-name",
  ],
};
const names = Object.keys(kinds);
const plain = "#000000";
const colourOf = (index: number): string => `#00000${index + 1}`;

export const codeTheme: Theme = {
  name: "tunerank",
  type: "light",
  colors: { "editor.foreground": plain, "editor.background": "#ffffff" },
  settings: [
    { settings: { foreground: plain, background: "#ffffff" } },
    ...Object.values(kinds).map((scope, index) => ({
      scope: [...scope],
      settings: { foreground: colourOf(index) },
    })),
    { scope: ["keyword.operator"], settings: { foreground: plain } },
  ],
};

/** Makes a class of each colour; words without one are text. */
export const withClasses: Transformer = {
  line(line) {
    line.children = line.children.map((word) => {
      if (word.type !== "element") return word;
      const [, colour] = /color:(#\d{6})/i.exec(String(word.properties.style ?? "")) ?? [];
      const kind = names.find((_, index) => colourOf(index) === colour);
      if (kind === undefined) return word.children[0] ?? word;
      return { ...word, properties: { class: kind } };
    });
  },
};
