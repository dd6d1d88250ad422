// Everything that a command prints: results to stdout, notes to stderr; without the API key, and without characters that
// move the cursor, recolour the terminal, reverse the order of the text after them, or hide in a name.
import { styleText } from "node:util";

type Clean = (text: string) => string;

/** A part of a line: a string, or what a style makes of a text. */
export type Printed = string | ((clean: Clean) => string);

// Default_Ignorable_Code_Point includes the zero-width, bidirectional and tag characters.
const invisible = /[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;
const control = /[\p{Control}\p{Line_Separator}\p{Paragraph_Separator}]+/gu;
// Characters that JSON.stringify does not escape.
const unescaped = /[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb\u007f-\u009f\u2028\u2029]/gu;

export interface Terminal {
  readonly json: boolean;
  readonly quiet: boolean;
  /** Whether progress is not shown (`--quiet` or `--json`). */
  readonly isSilent: boolean;
  /** The width of stdout, and of stderr; 0 if it is not a terminal, for stderr also if nothing may be drawn on it. */
  readonly columns: number;
  readonly errorColumns: number;
  /** Removes a secret from everything that is printed from now on, except by `write`; the others are `secrets`. */
  hide(secret: string | undefined): Promise<void>;
  readonly secrets: readonly string[];
  /** Print one line: to stdout, and to stderr. */
  print(...line: readonly Printed[]): void;
  note(...line: readonly Printed[]): void;
  /** Print to stdout, and to stderr: a value as JSON with `--json`, otherwise lines of text. */
  result(value: unknown, lines: string | readonly string[]): void;
  tell(value: unknown, line: string): void;
  /** Print to stdout: a value as JSON, without `--json` indented, and bytes or text unchanged. */
  printJson(value: unknown): void;
  write(content: string | Uint8Array): void;
  /** Replaces the current line on stderr, which has to be a terminal. */
  redraw(...line: readonly Printed[]): void;
}

/** Styles a text for stderr, if that has colours: styleText reads NO_COLOR, FORCE_COLOR and TERM. */
export function styled(style: Parameters<typeof styleText>[0], text: string): Printed {
  return (clean) => styleText(style, clean(text), { stream: process.stderr });
}

export function createTerminal({ json, quiet }: Record<"json" | "quiet", boolean>): Terminal {
  const { stdout, stderr } = process;
  const secrets: string[] = [];
  let redact: Clean = (text) => text;
  let redactAll = (value: unknown): unknown => value;
  // Redacted last: a key may have invisible characters in it until they are removed.
  const clean: Clean = (text) => redact(text.replace(invisible, "").replace(control, " "));
  const lineOf = (parts: readonly Printed[]): string =>
    parts.map((part) => (typeof part === "string" ? clean(part) : part(clean))).join("");
  const mayDraw = stderr.isTTY && process.env.TERM !== "dumb" && !isSet("CI");
  // A JSON text that was redacted might be none: values are redacted before they are written.
  const jsonOf = (value: unknown, indent?: number): string => jsonLine(redactAll(value), indent);
  const say = (stream: NodeJS.WriteStream, value: unknown, lines: string | readonly string[]): void => {
    for (const line of json ? [jsonOf(value)] : [lines].flat())
      stream.write(`${json ? line : lineOf([line.trimEnd()])}\n`);
  };
  return {
    ...{ json, quiet, isSilent: json || quiet, secrets },
    columns: stdout.isTTY ? stdout.columns || 80 : 0,
    errorColumns: mayDraw ? stderr.columns || 80 : 0,
    // The redactor is part of the client, which help and completion do without.
    async hide(secret) {
      if (!secret) return;
      const { redactorOf, redactValues } = await import("../engine.js");
      secrets.push(secret);
      const made = redactorOf([...secrets]);
      redact = made;
      redactAll = (value) => redactValues(made, value);
    },
    print: (...line) => void stdout.write(`${lineOf(line)}\n`),
    printJson: (value) => void stdout.write(`${jsonOf(value, json ? undefined : 2)}\n`),
    result: (value, lines) => say(stdout, value, lines),
    write: (content) => void stdout.write(content),
    note: (...line) => void stderr.write(`${lineOf(line)}\n`),
    tell: (value, line) => say(stderr, value, line),
    redraw: (...line) => void stderr.write(`\r\u001b[K${lineOf(line)}`),
  };
}

/** A value as JSON. Control and invisible characters are escaped, so that the value stays the same. */
export function jsonLine(value: unknown, indent?: number): string {
  // JSON.parse reads 1e400 as Infinity, which has no JSON: it becomes the largest number, as in jq.
  const finite = (_: string, each: unknown): unknown =>
    typeof each === "number" ? Math.max(-Number.MAX_VALUE, Math.min(each, Number.MAX_VALUE)) : each;
  return JSON.stringify(value, finite, indent).replace(unescaped, (character) =>
    character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );
}

/** Whether a variable such as CI is set, to any value but `0` and `false`. */
export function isSet(name: string): boolean {
  return !["", "0", "false"].includes(process.env[name] ?? "");
}

/** Shows progress on stderr: a bar on a terminal, at most every 100 ms; elsewhere a line every ten seconds. */
export class Progress {
  readonly terminal: Terminal;
  readonly isDrawn: boolean;
  #shownAt: number;

  constructor(terminal: Terminal) {
    this.terminal = terminal;
    this.isDrawn = terminal.errorColumns > 0 && !terminal.isSilent;
    this.#shownAt = this.isDrawn ? Number.NEGATIVE_INFINITY : performance.now();
  }

  get isDue(): boolean {
    return !this.terminal.quiet && performance.now() - this.#shownAt >= (this.isDrawn ? 100 : 10_000);
  }

  /** @param share How much is done, from 0 to 1, if that is known */
  show(share: number | undefined, facts: string, forPrograms: object): void {
    this.#shownAt = performance.now();
    const room = Math.min(40, this.terminal.errorColumns - facts.length - 3);
    if (!this.isDrawn) this.terminal.tell({ progress: forPrograms }, facts);
    else if (share === undefined || room < 8) this.terminal.redraw(facts);
    else {
      const bar = "█".repeat(Math.round(Math.min(1, share) * room)).padEnd(room, "░");
      this.terminal.redraw(styled("cyan", bar), ` ${facts}`);
    }
  }

  /** Removes what is drawn: something else is printed, or the run has ended. */
  end(): void {
    if (this.isDrawn) this.terminal.redraw();
  }
}

/** A number of things: `1 row`, `1,204 rows`. */
export function counted(count: number, what: string): string {
  return `${grouped(count)} ${what}${count === 1 ? "" : "s"}`;
}

/** A whole number with its thousands apart: 1,204. */
export function grouped(count: number): string {
  return `${count}`.replace(/\B(?=(\d{3})+$)/g, ",");
}
