import { readFile } from "node:fs/promises";
import path from "node:path";
import { head, type Page } from "./markdown.js";

const root = new URL("../../", import.meta.url);

/** Documents of the project's folder that are pages of the site too. */
export const documents: readonly { file: string; page: string; description: string }[] = [
  {
    file: ".github/SECURITY.md",
    page: "guide/security.md",
    description: "What the client promises about keys, hosts and files, and how to report a flaw.",
  },
  {
    file: "contract/EXTENSIONS.md",
    page: "guide/extensions.md",
    description: "The extensions of the contract, x-retry among them, and the overlays for other generators.",
  },
  {
    file: "CHANGELOG.md",
    page: "guide/changelog.md",
    description: "What changed in each version of the package.",
  },
  {
    file: "contract/CONTRACT-CHANGELOG.md",
    page: "guide/contract-changelog.md",
    description: "What changed in each revision of the contract.",
  },
  {
    file: "contract/conformance/README.md",
    page: "guide/conformance.md",
    description: "What a client does with every answer and every failure, in words and as data.",
  },
];

/** The published forms of the contract. */
export const publishedForms: readonly string[] = [
  "openapi.yaml",
  "openapi.json",
  "openapi-3.0.json",
  "openapi-client.yaml",
  "openapi-client.json",
  "openapi-client-3.0.json",
];

// What the site holds of the files these documents name.
const published: Readonly<Record<string, string>> = {
  ...Object.fromEntries(publishedForms.map((name) => [name, `/${name}`])),
  ...Object.fromEntries(documents.map(({ file, page }) => [file, `/${page}`])),
};

/** Makes pages of the documents, each with the links that work here. */
export async function documentPages(): Promise<Page[]> {
  return await Promise.all(
    documents.map(async ({ file, page, description }) => {
      const text = await readFile(new URL(file, root), "utf8").catch(() => {
        throw new Error(`${file} is missing: the docs have a page of it.`);
      });
      const title = /^# (.+)$/m.exec(text)?.[1] ?? file;
      return { path: page, text: `${head(title, description)}${relink(text, path.posix.dirname(file))}` };
    }),
  );
}

// A link to a file that the site lacks becomes its name.
function relink(text: string, folder: string): string {
  return text.replaceAll(
    /\[([^\]]+)\]\((?!https?:|#|mailto:)([^)#]+)(#[^)]*)?\)/g,
    (_, label: string, target: string, anchor = "") => {
      const file = path.posix.join(folder, target);
      const page = published[file] ?? /^contract(\/conformance\/.*\.json)$/.exec(file)?.[1];
      return page === undefined ? label : `[${label}](${page}${page.endsWith(".md") ? anchor : ""})`;
    },
  );
}
