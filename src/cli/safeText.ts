// What a service or a document says may hold characters that move the cursor, recolour the terminal, reverse the
// order of what follows or hide in a name.

// Default_Ignorable_Code_Point holds the zero-width, bidirectional and tag characters.
const invisible = /[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;
const control = /[\p{Control}\p{Line_Separator}\p{Paragraph_Separator}]+/gu;

/** A text on one line, without control and invisible characters. */
export function oneLine(text: string): string {
  return text.replace(invisible, "").replace(control, " ").trim();
}

/** A value as JSON on one line; control and invisible characters are escaped, so that it still says the same. */
export function jsonLine(value: unknown): string {
  return JSON.stringify(value).replace(invisible, escaped).replace(control, escaped);
}

/** A value as JSON for people, indented; escaped as on one line. */
export function jsonLines(value: unknown): string {
  const lines = JSON.stringify(value, undefined, 2).split("\n");
  return lines.map((line) => line.replace(invisible, escaped).replace(control, escaped)).join("\n");
}

// JSON escapes UTF-16 code units.
function escaped(characters: string): string {
  return characters
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}

/** The beginning of a text that fits `columns`. */
export function clip(text: string, columns: number): string {
  const characters = [...text];
  return characters.length <= columns ? text : `${characters.slice(0, Math.max(0, columns - 1)).join("")}…`;
}
