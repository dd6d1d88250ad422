import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { publishedForms } from "./documents.js";
import { plainPage } from "./plainPage.js";

/** One page of the site as Markdown. */
export interface SitePage {
  /** Below docs/, as `guide/quickstart.md`. */
  readonly source: string;
  /** Below site/, as `guide/quickstart.md`. */
  readonly target: string;
}

/** What stands at the top of every llms.txt. */
export const about = `# tunerank

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
    const file = path.join(docs, source);
    const include = (part: string) => readFile(path.join(path.dirname(file), part), "utf8");
    const page = await plainPage(await readFile(file, "utf8"), docs, include);
    const { title, description } = page;
    const text = page.text.replaceAll("](/", `](${base}`);
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
