import { styleText } from "node:util";
import type { DatasetFile, UploadProgress } from "../index.js";
import { hasColors, mayDraw } from "./environment.js";

type Style = Parameters<typeof styleText>[0];

/** How a command prints: results to stdout, notes to stderr. */
export interface Terminal {
  readonly json: boolean;
  readonly quiet: boolean;
  /** The width of stdout in columns; 0 if stdout is not a terminal. */
  readonly columns: number;
  /** Whether bars may be drawn on stdout. */
  readonly draws: boolean;
  /** The width of stderr in columns; 0 if nothing may be drawn on it. */
  readonly errorColumns: number;
  print(line: string): void;
  /** Prints the result to stdout: as JSON with `--json`, otherwise as a line of text. */
  result(value: unknown, line: string): void;
  write(content: string | Uint8Array): void;
  note(line: string): void;
  /** Prints a note to stderr: as JSON with `--json`, otherwise as a line of text. */
  tell(value: unknown, line: string): void;
  /** Replaces the current line on stderr, which has to be a terminal. */
  redraw(line: string): void;
  style(style: Style, text: string): string;
  errorStyle(style: Style, text: string): string;
}

export function createTerminal({
  json,
  quiet,
  color,
}: Record<"json" | "quiet" | "color", boolean>): Terminal {
  const { stdout, stderr } = process;
  // Checks colours itself, because styleText's own check takes an empty NO_COLOR for set.
  const styler = (stream: NodeJS.WriteStream) => {
    const isColored = color && hasColors(stream);
    return (style: Style, text: string) =>
      isColored ? styleText(style, text, { validateStream: false }) : text;
  };
  return {
    json,
    quiet,
    columns: stdout.isTTY ? stdout.columns || 80 : 0,
    draws: stdout.isTTY && mayDraw(),
    errorColumns: stderr.isTTY && mayDraw() ? stderr.columns || 80 : 0,
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

/** Whether progress is not shown (`--quiet` or `--json`). */
export function isSilent({ quiet, json }: Terminal): boolean {
  return quiet || json;
}

/** A progress bar, then `facts`, for stderr. The bar is left out if `share` is undefined, or if there is no room. */
export function withBar(share: number | undefined, facts: string, terminal: Terminal): string {
  const room = Math.min(40, terminal.errorColumns - facts.length - 3);
  if (share === undefined || room < 8) return facts;
  return `${terminal.errorStyle("cyan", bar(share, room))} ${facts}`;
}

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** Draws a bar that is `width` columns wide and filled to `share`, from 0 to 1. */
export function bar(share: number, width: number): string {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * width * 8);
  const full = "█".repeat(filled >> 3) + (eighths[filled & 7] ?? "");
  return full.padEnd(width, "░");
}

/**
 * The length of each score's bar, from 0 to 1. The range of scores is not documented, so the best score has the longest
 * bar. A bar of length 0 stands for 0, or for the worst score if that is below 0.
 */
export function scoreShares(scores: readonly number[]): number[] {
  const best = scores.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const from = scores.reduce((a, b) => Math.min(a, b), 0);
  return scores.map((score) => (best > from ? (score - from) / (best - from) : 0));
}

const redrawMs = 80;

/** Shows the progress of an upload: a bar on a terminal, otherwise a line for every quarter. */
export interface ProgressLine {
  show(this: void, progress: UploadProgress): void;
  end(): void;
}

export function createProgress(terminal: Terminal): ProgressLine {
  if (isSilent(terminal)) return { show: () => {}, end: () => {} };
  return terminal.errorColumns > 0 ? drawnProgress(terminal) : plainProgress(terminal);
}

function drawnProgress(terminal: Terminal): ProgressLine {
  const started = performance.now();
  let drawn = Number.NEGATIVE_INFINITY;
  return {
    show({ sentBytes, totalBytes }) {
      const now = performance.now();
      if (now - drawn < redrawMs && sentBytes !== totalBytes) return;
      drawn = now;
      const rate = sentBytes / Math.max(1, now - started);
      const speed = `${megabytes(rate * 1000)}/s`;
      if (totalBytes === undefined) return terminal.redraw(`${megabytes(sentBytes)} sent, ${speed}`);
      const share = totalBytes === 0 ? 1 : sentBytes / totalBytes;
      const left = duration((totalBytes - sentBytes) / rate);
      const percent = `${Math.floor(share * 100)} %`.padStart(5);
      const facts = `${percent}  ${megabytes(sentBytes)} of ${megabytes(totalBytes)}  ${speed}  ${left} left`;
      terminal.redraw(withBar(share, facts, terminal));
    },
    end: () => terminal.redraw(""),
  };
}

function plainProgress(terminal: Terminal): ProgressLine {
  let shown = 0;
  return {
    show({ sentBytes, totalBytes }) {
      if (!totalBytes) return;
      const quarter = Math.floor((4 * sentBytes) / totalBytes);
      if (quarter <= shown) return;
      shown = quarter;
      terminal.note(`Sent ${sentBytes} of ${totalBytes} bytes (${quarter * 25} %).`);
    },
    end() {},
  };
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

function duration(ms: number): string {
  const seconds = Number.isFinite(ms) ? Math.ceil(ms / 1000) : 0;
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** A number of things: `1 row`, `1,204 rows`. */
export function counted(count: number, what: string): string {
  return `${grouped(count)} ${what}${count === 1 ? "" : "s"}`;
}

/** A whole number with its thousands apart: 1,204. */
export function grouped(count: number): string {
  return `${count}`.replace(/\B(?=(\d{3})+$)/g, ",");
}

/** The message about a stored file. It has the file's size only if the response has one. */
export function storedLine(file: string, { bytes, id }: Partial<DatasetFile>): string {
  return typeof bytes === "number" ? `${file}: ${bytes} bytes, file ${id}.` : `${file}: file ${id}.`;
}

// Text from the service or a document may contain characters that move the cursor, recolour the terminal, reverse the
// order of the following text, or hide in a name.

// Default_Ignorable_Code_Point includes the zero-width, bidirectional and tag characters.
const invisible = /[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;
const control = /[\p{Control}\p{Line_Separator}\p{Paragraph_Separator}]+/gu;

/** A text on one line, without control and invisible characters. */
export function oneLine(text: string): string {
  return text.replace(invisible, "").replace(control, " ").trim();
}

/** The error if a response cannot be written as JSON. The operation has run. */
export class Unwritable extends Error {
  constructor(cause?: RangeError, why = "it is nested too deeply, or too long") {
    super(`The response cannot be written as JSON: ${why}.`, { cause });
  }
}

/** Returns the text that `write` makes of a value. @throws Unwritable if JSON.stringify cannot write the value */
export function writtenBy(write: () => string): string {
  try {
    return write();
  } catch (cause) {
    throw cause instanceof RangeError ? new Unwritable(cause) : cause;
  }
}

/**
 * A value as JSON on one line. Control and invisible characters are escaped, so that the value stays the same.
 * @throws Unwritable
 */
export function jsonLine(value: unknown): string {
  return writtenBy(() => JSON.stringify(value).replace(invisible, escaped).replace(control, escaped));
}

const longestQuoted = 100;

/** Quotes text from a user's file in a message: escaped as in JSON, except backslashes, and cut to 100 characters. */
export function named(text: string): string {
  return clip(jsonLine(text).slice(1, -1).replaceAll("\\\\", "\\"), longestQuoted);
}

/** A value as indented JSON, for people. Control and invisible characters are escaped. @throws Unwritable */
export function jsonLines(value: unknown): string {
  return writtenBy(() => {
    const lines = JSON.stringify(value, undefined, 2).split("\n");
    return lines.map((line) => line.replace(invisible, escaped).replace(control, escaped)).join("\n");
  });
}

/** Characters as JSON escapes them: each UTF-16 code unit, not each character. */
export function escaped(characters: string): string {
  return characters
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}

/** The beginning of a text, at most `columns` characters long. A text that was cut ends with an ellipsis. */
export function clip(text: string, columns: number): string {
  const characters = [...text];
  return characters.length <= columns ? text : `${characters.slice(0, Math.max(0, columns - 1)).join("")}…`;
}
