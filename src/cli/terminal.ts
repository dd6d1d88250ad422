import { styleText } from "node:util";

type Style = Parameters<typeof styleText>[0];

/** Where a command prints, and how. */
export interface Terminal {
  readonly json: boolean;
  readonly quiet: boolean;
  /** Whether people look at stdout, with its width in columns; 0 when it is a file or another program. */
  readonly columns: number;
  /** The same of stderr. */
  readonly errorColumns: number;
  /** Prints a line of the result. */
  print(line: string): void;
  /** Prints the result: as JSON for machines, else a line of text. */
  result(value: unknown, line: string): void;
  /** Writes a part of the result as it is. */
  write(content: string | Uint8Array): void;
  /** Prints a line about what goes on. */
  note(line: string): void;
  /** Notes something: as JSON for machines, else a line of text. */
  tell(value: unknown, line: string): void;
  /** Writes over the line people look at on stderr. */
  redraw(line: string): void;
  style(style: Style, text: string): string;
  errorStyle(style: Style, text: string): string;
}

/** The terminal of this process. */
export function createTerminal({
  json,
  quiet,
  color,
}: Record<"json" | "quiet" | "color", boolean>): Terminal {
  const { stdout, stderr } = process;
  // styleText knows whether the stream is a terminal, and NO_COLOR, FORCE_COLOR and TERM.
  const styler = (stream: NodeJS.WriteStream) => (style: Style, text: string) =>
    color ? styleText(style, text, { stream }) : text;
  return {
    json,
    quiet,
    columns: stdout.isTTY ? stdout.columns || 80 : 0,
    errorColumns: stderr.isTTY ? stderr.columns || 80 : 0,
    print: (line) => void stdout.write(`${line}\n`),
    result: (value, line) => void stdout.write(`${json ? jsonLine(value) : oneLine(line)}\n`),
    write: (content) => void stdout.write(content),
    note: (line) => void stderr.write(`${line}\n`),
    tell: (value, line) => void stderr.write(`${json ? jsonLine(value) : oneLine(line)}\n`),
    redraw: (line) => void stderr.write(`\r\u001b[K${line}`),
    style: styler(stdout),
    errorStyle: styler(stderr),
  };
}

/** Whether nothing is said about what goes on. */
export function isSilent({ quiet, json }: Terminal): boolean {
  return quiet || json;
}

/** Facts behind a bar, for stderr; without it where it is not known how far it goes, or there is no room. */
export function withBar(share: number | undefined, facts: string, terminal: Terminal): string {
  const room = Math.min(40, terminal.errorColumns - facts.length - 3);
  if (share === undefined || room < 8) return facts;
  return `${terminal.errorStyle("cyan", bar(share, room))} ${facts}`;
}

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** A bar of `width` columns, filled to `share` of it. */
export function bar(share: number, width: number): string {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * width * 8);
  const full = "█".repeat(filled >> 3) + (eighths[filled & 7] ?? "");
  return full.padEnd(width, "░");
}

/**
 * How far the bar of each score goes, from 0 to 1. The range of scores is not documented, so the longest bar is the
 * best score there is, and the shortest ends at 0, or at the worst score where one is below 0.
 */
export function scoreShares(scores: readonly number[]): number[] {
  const best = scores.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const from = scores.reduce((a, b) => Math.min(a, b), 0);
  return scores.map((score) => (best > from ? (score - from) / (best - from) : 0));
}
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
