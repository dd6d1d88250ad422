import { readFile } from "node:fs/promises";
import path from "node:path";
import { printedNote } from "./printed.js";

/** A page of the site as Markdown that stands alone: what it includes is in it. Links stay the site's. */
export async function plainPage(
  raw: string,
  docs: string,
  include: (part: string) => Promise<string>,
): Promise<{ title: string; description: string; text: string }> {
  const matter = /^---\n(.*?)\n---\n/s.exec(raw);
  const field = (name: string) => new RegExp(`^${name}: "?(.*?)"?$`, "m").exec(matter?.[1] ?? "")?.[1] ?? "";
  const included = await replaceAll(
    raw.slice(matter?.[0].length ?? 0),
    /<!--@include: (.+?)-->/g,
    async (part) => (await include(part)).trim(),
  );
  const text = await replaceAll(included, /^<<< @\/(\S+?)(?:#(\w+))?(?:\{.*\}|[ \t].*)?$/gm, (file, region) =>
    snippet(docs, file, region),
  );
  const title = field("title") || (/^# (.+)$/m.exec(text)?.[1] ?? "tunerank");
  return { title, description: field("description"), text: plain(text) };
}

async function snippet(docs: string, file: string, region: string | undefined): Promise<string> {
  const lines = (await readFile(path.join(docs, file), "utf8")).trimEnd().split("\n");
  const from = lines.findIndex((line) => line.trim() === `// #region ${region}`);
  const to = lines.findIndex((line) => line.trim() === `// #endregion ${region}`);
  const chosen = region === undefined ? lines : lines.slice(from + 1, to);
  const language = /\.(\w+)$/.exec(file)?.[1] ?? "";
  const note = printedNote(file);
  return `${note === undefined ? "" : `It ${note}:\n\n`}\`\`\`${language}\n${chosen.filter((line) => !/^\s*\/\/ #(end)?region/.test(line)).join("\n")}\n\`\`\``;
}

// What only the site's own pages need: containers, custom blocks, anchors inside cells, targets of links.
function plain(text: string): string {
  return `${text
    .replaceAll(/^::: details (.*)$/gm, "**$1**\n")
    .replaceAll(/^:::.*$\n?/gm, "")
    .replaceAll(/<\/?b>/g, "**")
    .replaceAll(/<\/?(div|span|section|a|details|summary|FailureLab|TableFilter)\b[^>]*>/g, "")
    .replaceAll(/\{target="\w+"\}/g, "")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim()}\n`;
}

async function replaceAll(
  text: string,
  pattern: RegExp,
  replace: (first: string, second: string | undefined) => Promise<string>,
): Promise<string> {
  const matches = [...text.matchAll(pattern)];
  const values = await Promise.all(matches.map(([, first = "", second]) => replace(first, second)));
  return text.replaceAll(pattern, () => values.shift() ?? "");
}
