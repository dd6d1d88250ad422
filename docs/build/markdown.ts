/** A page or a part of one: where it is written under docs/generated, and its Markdown. */
export interface Page {
  readonly path: string;
  readonly text: string;
}

/** Text of the contract as it may stand in Markdown: VitePress would take `<` outside code for a tag. */
export function prose(text: string): string {
  const pieces = text.split(/(`[^`]*`)/);
  return pieces.map((piece) => (piece.startsWith("`") ? piece : piece.replaceAll("<", "&lt;"))).join("");
}

/** Text as inline code. */
export function code(text: string): string {
  return `\`${text}\``;
}

/** A table; cells are Markdown. `space` stands around each: none where nearly all cells are figures. */
export function table(head: readonly string[], rows: readonly (readonly string[])[], space = " "): string {
  const line = (cells: readonly string[]) => `|${cells.map((each) => space + cell(each) + space).join("|")}|`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll(/\s*\n\s*/g, " ");
}

/** A page's head: its title, and the sentence that search engines and llms.txt show. A wide one has no outline. */
export function head(title: string, description: string, { wide = false }: { wide?: boolean } = {}): string {
  return `---\ntitle: ${JSON.stringify(title)}\ndescription: ${JSON.stringify(description)}\n${wide ? "aside: false\n" : ""}---\n`;
}

/** Marks what is not documented at a place of a page; {@link withUnstated} tells it. */
export function unstated(
  { "x-unstated": text }: { readonly "x-unstated"?: string | undefined } = {},
  of = "",
): string {
  const [, open, decided] = /^Not stated: (.*?)\s+Decided: (.*)$/s.exec(text?.trim() ?? "") ?? [];
  if (open === undefined || decided === undefined) return "";
  return `⟦${of && `${code(of)}: `}${prose(open)} *Assumed:* ${prose(decided)}⟧`;
}

/** The page with one line for all that the service does not document of it, which unfolds below its first words. */
export function withUnstated({ path, text }: Page): Page {
  const found = new Set<string>();
  const rest = text.replaceAll(/\s*⟦([^⟧]*)⟧/g, (_, said: string) => {
    found.add(`- ${said.replaceAll(/\s+/g, " ")}`);
    return "";
  });
  if (found.size === 0) return { path, text };
  const summary = `The service does not document ${found.size} of these facts: what this client assumes`;
  const note = `<details class="unstated"><summary>${summary}</summary>\n\n${[...found].join("\n")}\n\n</details>\n\n`;
  const at = rest.search(/^## /m);
  return { path, text: at < 0 ? `${rest}\n\n${note}` : rest.slice(0, at) + note + rest.slice(at) };
}

/** A block of code. */
export function block(language: string, text: string): string {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;
}

/** A text's first letter in upper case, and a full stop at its end. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  return trimmed.charAt(0).toUpperCase() + trimmed.slice(1) + (/[.!?]$/.test(trimmed) ? "" : ".");
}

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
    .replaceAll(/<\/?(div|span|section|main|a|details|summary|FailureLab)\b[^>]*>/g, "")
    .replaceAll(/\{target="\w+"\}/g, "")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim()}\n`;
}
