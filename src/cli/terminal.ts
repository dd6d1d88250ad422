// Everything that a command prints: results to stdout, notes to stderr; without the API key, and without characters that
// move the cursor, recolour the terminal, reverse the order of the text after them, or hide in a name.
import { styleText } from "node:util";
import type { DatasetFile, UploadProgress } from "../index.js";

type Style = Parameters<typeof styleText>[0];

type Clean = (text: string) => string;

/** A part of a line: a string, or what a style makes of a text. */
export type Printed = string | ((clean: Clean) => string);

/** Separates the columns of a line. */
export const tab: Printed = () => "\t";

/** How a command prints. All text is cleaned here, and nowhere else. */
export interface Terminal {
  readonly json: boolean;
  readonly quiet: boolean;
  /** The width of stdout, and of stderr; 0 if it is not a terminal, for stderr also if nothing may be drawn on it. */
  readonly columns: number;
  readonly errorColumns: number;
  /** Whether bars may be drawn on stdout. */
  readonly draws: boolean;
  /** From now on, this secret is removed from everything that is printed, except from what `write` prints. */
  hide(secret: string): Promise<void>;
  /** Prints one line to stdout; `note` prints one to stderr. */
  print(...line: readonly Printed[]): void;
  note(...line: readonly Printed[]): void;
  /** Prints to stdout, `tell` to stderr: a value as JSON with `--json`, otherwise a line of text. @throws Unwritable */
  result(value: unknown, line: string): void;
  tell(value: unknown, line: string): void;
  /** Prints a value to stdout as JSON: on one line with `--json`, otherwise indented. @throws Unwritable */
  printJson(value: unknown): void;
  /** Prints bytes or text to stdout unchanged. */
  write(content: string | Uint8Array): void;
  /** Replaces the current line on stderr, which has to be a terminal. */
  redraw(...line: readonly Printed[]): void;
  style(style: Style, text: string): Printed;
  errorStyle(style: Style, text: string): Printed;
}

// Default_Ignorable_Code_Point includes the zero-width, bidirectional and tag characters.
const invisible = /[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;
const control = /[\p{Control}\p{Line_Separator}\p{Paragraph_Separator}]+/gu;
// Characters that JSON.stringify does not escape.
const unescaped = /[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb\u007f-\u009f\u2028\u2029]/gu;

export function createTerminal(options: Record<"json" | "quiet" | "color", boolean>): Terminal {
  const { json, quiet, color } = options;
  const { stdout, stderr } = process;
  const secrets: string[] = [];
  let redact: Clean = (text) => text;
  let redactAll = (value: unknown): unknown => value;
  // Redacted last: a key may have invisible characters in it until they are removed.
  const clean: Clean = (text) => redact(text.replace(invisible, "").replace(control, " "));
  const lineOf = (parts: readonly Printed[]): string =>
    parts.map((part) => (typeof part === "string" ? clean(part) : part(clean))).join("");
  const isDumb = process.env.TERM === "dumb";
  const mayDraw = !isDumb && !isSet("CI");
  const { FORCE_COLOR, NO_COLOR } = process.env;
  const styler = (stream: NodeJS.WriteStream) => {
    // As in Node, FORCE_COLOR outranks NO_COLOR; an empty variable is not set, other than in styleText's own check.
    const isColored = color && (FORCE_COLOR ? isSet("FORCE_COLOR") : !NO_COLOR && !isDumb && stream.isTTY);
    return (style: Style, text: string) => (clean: Clean) =>
      isColored ? styleText(style, clean(text), { validateStream: false }) : clean(text);
  };
  const jsonOf = (value: unknown, indent?: number): string =>
    // A JSON text that was redacted might be none: values are redacted before they are written.
    jsonText(() => JSON.stringify(redactAll(value), finite, indent));
  const say = (stream: NodeJS.WriteStream, value: unknown, line: string): void =>
    void stream.write(`${json ? jsonOf(value) : lineOf([line.trim()])}\n`);
  return {
    json,
    quiet,
    columns: stdout.isTTY ? stdout.columns || 80 : 0,
    draws: stdout.isTTY && mayDraw,
    errorColumns: stderr.isTTY && mayDraw ? stderr.columns || 80 : 0,
    // The redactor is part of the client, which help and completion do without.
    async hide(secret) {
      const { redactorOf, redactValues } = await import("../engine.js");
      secrets.push(secret);
      const made = redactorOf([...secrets]);
      redact = made;
      redactAll = (value) => redactValues(made, value);
    },
    print: (...line) => void stdout.write(`${lineOf(line)}\n`),
    printJson: (value) => void stdout.write(`${jsonOf(value, json ? undefined : 2)}\n`),
    result: (value, line) => say(stdout, value, line),
    write: (content) => void stdout.write(content),
    note: (...line) => void stderr.write(`${lineOf(line)}\n`),
    tell: (value, line) => say(stderr, value, line),
    redraw: (...line) => void stderr.write(`\r\u001b[K${lineOf(line)}`),
    style: styler(stdout),
    errorStyle: styler(stderr),
  };
}

/** The error if a response cannot be written as JSON. The operation has run. */
export class Unwritable extends Error {
  constructor(cause?: RangeError, why = "it is nested too deeply, or too long") {
    super(`The response cannot be written as JSON: ${why}.`, { cause });
  }
}

// Rejects a number such as 1e400: it was read as Infinity, and would be printed as null.
function finite(name: string, value: unknown): unknown {
  if (typeof value !== "number" || Number.isFinite(value)) return value;
  throw new Unwritable(undefined, `it has a number too large for JSON${name && ` in ${name}`}`);
}

// Control and invisible characters are escaped, so that the value stays the same.
function jsonText(write: () => string): string {
  try {
    return write().replace(unescaped, (character) =>
      character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
    );
  } catch (cause) {
    throw cause instanceof RangeError ? new Unwritable(cause) : cause;
  }
}

/** A value as JSON on one line, for a file. Control and invisible characters are escaped. @throws Unwritable */
export function jsonLine(value: unknown): string {
  return jsonText(() => JSON.stringify(value));
}

/** Whether a variable such as CI is set, to any value but `0` and `false`. */
export function isSet(name: string): boolean {
  return !["", "0", "false"].includes(process.env[name] ?? "");
}

/** Whether progress is not shown (`--quiet` or `--json`). */
export function isSilent({ quiet, json }: Terminal): boolean {
  return quiet || json;
}

/** A progress bar, if `share` is known and there is room, then `facts`, for stderr. */
export function withBar(share: number | undefined, facts: string, terminal: Terminal): readonly Printed[] {
  const room = Math.min(40, terminal.errorColumns - facts.length - 3);
  if (share === undefined || room < 8) return [facts];
  return [terminal.errorStyle("cyan", bar(share, room)), ` ${facts}`];
}

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** Draws a bar that is `width` columns wide and filled to `share`, from 0 to 1. */
export function bar(share: number, width: number): string {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * width * 8);
  const full = "█".repeat(filled >> 3) + (eighths[filled & 7] ?? "");
  return full.padEnd(width, "░");
}

/** The length of each score's bar, from 0 to 1: the range of scores is not documented, so the best one's is 1. */
export function scoreShares(scores: readonly number[]): number[] {
  const best = scores.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const from = scores.reduce((a, b) => Math.min(a, b), 0);
  return scores.map((score) => (best > from ? (score - from) / (best - from) : 0));
}

/** Shows the progress of an upload: a bar on a terminal, otherwise a line for every quarter. */
export function createProgress(terminal: Terminal): {
  show(this: void, at: UploadProgress): void;
  end(): void;
} {
  const started = performance.now();
  let [drawn, quarters] = [Number.NEGATIVE_INFINITY, 0];
  const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
  return {
    show({ sentBytes, totalBytes }) {
      if (isSilent(terminal)) return;
      if (terminal.errorColumns === 0) {
        const quarter = totalBytes ? Math.floor((4 * sentBytes) / totalBytes) : 0;
        if (quarter <= quarters) return;
        quarters = quarter;
        return terminal.note(`Sent ${sentBytes} of ${totalBytes} bytes (${quarter * 25} %).`);
      }
      const now = performance.now();
      if (now - drawn < 80 && sentBytes !== totalBytes) return;
      drawn = now;
      const speed = `${megabytes((1000 * sentBytes) / Math.max(1, now - started))}/s`;
      const of = totalBytes === undefined ? "sent" : `of ${megabytes(totalBytes)}`;
      const share = totalBytes === undefined ? undefined : totalBytes === 0 ? 1 : sentBytes / totalBytes;
      const percent = share === undefined ? "" : `${Math.floor(share * 100)} %  `.padStart(7);
      terminal.redraw(...withBar(share, `${percent}${megabytes(sentBytes)} ${of}  ${speed}`, terminal));
    },
    end() {
      if (terminal.errorColumns > 0 && !isSilent(terminal)) terminal.redraw();
    },
  };
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

/** The beginning of a text, at most `columns` characters long. A text that was cut ends with an ellipsis. */
export function clip(text: string, columns: number): string {
  const characters = [...text];
  return characters.length <= columns ? text : `${characters.slice(0, Math.max(0, columns - 1)).join("")}…`;
}
