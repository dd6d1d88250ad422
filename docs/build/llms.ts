import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { publishedForms } from "./documents.js";

/** One page of the site as Markdown. */
export interface SitePage {
  /** Below docs/, as `guide/quickstart.md`. */
  readonly source: string;
  /** Below site/, as `guide/quickstart.md`. */
  readonly target: string;
}

const about = `# tunerank

> TypeScript client and OpenAPI contract of one HTTP machine-learning service with four operations: resume a
> reinforcement fine-tuning job, rerank documents, scale a deployment, upload a dataset file.
`;

/** Writes each page's Markdown beside its HTML, llms.txt (their list) and llms-full.txt (their text). */
export async function writeLlmsTexts(
  { docs, site, base }: { docs: string; site: string; base: string },
  pages: readonly SitePage[],
): Promise<void> {
  const listed: string[] = [];
  const whole: string[] = [];
  for (const { source, target } of pages) {
    const { title, description, text } = await resolve(path.join(docs, source), { docs, base });
    listed.push(`- [${title}](${base}${target})${description === "" ? "" : `: ${description}`}`);
    whole.push(`<!-- ${base}${target} -->\n\n${text}`);
    await mkdir(path.dirname(path.join(site, target)), { recursive: true });
    await writeFile(path.join(site, target), text);
  }
  const documents = publishedForms.map((name) => `- [${name}](${base}${name})`);
  await writeFile(
    path.join(site, "llms.txt"),
    `${about}\n## Pages\n\n${listed.join("\n")}\n\n## Documents\n\n${documents.join("\n")}\n`,
  );
  await writeFile(path.join(site, "llms-full.txt"), `${about}\n${whole.join("\n\n---\n\n")}\n`);
}

async function resolve(
  file: string,
  { docs, base }: { docs: string; base: string },
): Promise<{ title: string; description: string; text: string }> {
  const raw = await readFile(file, "utf8");
  const matter = /^---\n(.*?)\n---\n/s.exec(raw);
  const field = (name: string) => new RegExp(`^${name}: "?(.*?)"?$`, "m").exec(matter?.[1] ?? "")?.[1] ?? "";
  const included = await replaceAll(
    raw.slice(matter?.[0].length ?? 0),
    /<!--@include: (.+?)-->/g,
    async (part) => (await readFile(path.join(path.dirname(file), part), "utf8")).trim(),
  );
  const text = await replaceAll(included, /^<<< @\/(\S+?)(?:#(\w+))?(?:\{.*\}|\s.*)?$/gm, (file, region) =>
    snippet(docs, file, region),
  );
  const title = field("title") || (/^# (.+)$/m.exec(text)?.[1] ?? "tunerank");
  return { title, description: field("description"), text: plain(text).replaceAll("](/", `](${base}`) };
}

async function snippet(docs: string, file: string, region: string | undefined): Promise<string> {
  const lines = (await readFile(path.join(docs, file), "utf8")).trimEnd().split("\n");
  const from = lines.findIndex((line) => line.trim() === `// #region ${region}`);
  const to = lines.findIndex((line) => line.trim() === `// #endregion ${region}`);
  const chosen = region === undefined ? lines : lines.slice(from + 1, to);
  const language = /\.(\w+)$/.exec(file)?.[1] ?? "";
  return `\`\`\`${language}\n${chosen.filter((line) => !/^\s*\/\/ #(end)?region/.test(line)).join("\n")}\n\`\`\``;
}

// What only the site's own pages need: containers, custom blocks, anchors inside cells.
function plain(text: string): string {
  return `${text
    .replaceAll(/^:::.*$\n?/gm, "")
    .replaceAll(/<\/?(div|span|section|a)\b[^>]*>/g, "")
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
