// A feed of both changelogs, in RSS: an entry for each version of the package and each revision of the contract.
import { readFile } from "node:fs/promises";
import { addressOf, type Place } from "./head.js";

const logs = [
  ["CHANGELOG.md", "guide/changelog.html", "tunerank"],
  ["contract/CONTRACT-CHANGELOG.md", "guide/contract-changelog.html", "Contract"],
] as const;

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** The feed, in the order of the changelogs; what is not released yet is none of it. */
export async function changelogFeed(place: Place): Promise<string> {
  const items = await Promise.all(
    logs.map(async ([file, page, name]) => {
      const text = await readFile(new URL(`../../${file}`, import.meta.url), "utf8");
      const link = addressOf(page, place);
      return text
        .split(/^## (?=\d)/m)
        .slice(1)
        .map((part) => {
          const [version = "", ...words] = part.split("\n");
          return `<item><title>${name} ${version}</title><link>${link}</link><guid isPermaLink="false">${name}-${version}</guid><description>${escaped(words.join("\n").trim())}</description></item>`;
        });
    }),
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0"><channel><title>tunerank</title><link>${addressOf("", place)}</link>
<description>Changes of the package and of the contract</description>
${items.flat().join("\n")}
</channel></rss>
`;
}
