// A page's first words are enough to know whose it is.
const readCharacters = 16_384;
const keptCharacters = 200;

/** Whether a text is a web page, or another document with tags. */
export function isPage(text: string): boolean {
  return /^\s*</.test(text);
}

/** A page's title, else its first words, without tags. Every pattern takes linear time. */
export function pageText(page: string): string {
  const text = page.slice(0, readCharacters);
  const title = /<title[^>]{0,99}>([^<]+)</i.exec(text)?.[1]?.trim();
  const words = text
    .replace(/<!--.*?(?:-->|$)|<(script|style)\b.*?(?:<\/\1|$)/gis, " ")
    .replace(/<[^<>]*>?/g, " ");
  return (title || words).replace(/\s+/g, " ").trim().slice(0, keptCharacters);
}
