/** A page of the site as Markdown that stands alone. Links stay as they are. */
export function plainPage(raw: string): { title: string; description: string; text: string } {
  const matter = /^---\n(.*?)\n---\n/s.exec(raw);
  const field = (name: string) => new RegExp(`^${name}: "?(.*?)"?$`, "m").exec(matter?.[1] ?? "")?.[1] ?? "";
  const text = plain(raw.slice(matter?.[0].length ?? 0));
  const title = field("title") || (/^# (.+)$/m.exec(text)?.[1] ?? "tunerank");
  return { title, description: field("description"), text };
}

// What only the site's own pages and the tests need: containers, custom blocks, anchors inside cells, targets of links,
// what is done with a block.
function plain(text: string): string {
  return `${text
    .replaceAll(/^::: details (.*)$/gm, "**$1**\n")
    .replaceAll(/^:::.*$\n?/gm, "")
    .replaceAll(/^<!-- .* -->$\n?/gm, "")
    .replaceAll(/^```(\w+) .*$/gm, "```$1")
    .replaceAll(/^<summary>(.*)<\/summary>$/gm, "**$1**")
    .replaceAll(/<\/?b>/g, "**")
    .replaceAll(/<\/?(div|span|section|main|a|details|summary|FailureLab|TableFilter)\b[^>]*>/g, "")
    .replaceAll(/\{target="\w+"\}/g, "")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim()}\n`;
}
