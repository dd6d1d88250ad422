// Decodes a line of an input to its text, or to the JSON value in it.
import { orUndefined } from "../context.js";
import { named } from "../terminal.js";
import { conversionOf } from "./formats.js";
import { charactersIn, jsonFault } from "./jsonFault.js";
import type { Line } from "./lines.js";

/** A value that was read, or a sentence that says why it cannot be read. */
export type Reading<T> =
  | { readonly value: T; readonly problem?: never }
  | { readonly value?: never; readonly problem: string };

// In a line of JSON, a byte order mark is kept and so reported: other readers reject it. In text, it is removed.
const decoders = {
  "JSON lines": new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }),
  lines: new TextDecoder("utf-8", { fatal: true }),
};

/** The text of a line, without its line end. @param file The input's name, if it is known */
export function lineText({ bytes }: Line, wanted: "JSON lines" | "lines", file?: string): Reading<string> {
  if (bytes === undefined) return { problem: "It is longer than 64 MiB." };
  // A zero byte is valid UTF-8, so it is looked for here. In a line of JSON, the parser rejects it.
  if (wanted === "lines" && bytes.includes(0)) return { problem: "It has a NUL byte, so it is not text." };
  const text = orUndefined(() => decoders[wanted].decode(bytes));
  if (text !== undefined) return { value: text.endsWith("\r") ? text.slice(0, -1) : text };
  const { column, hint } = encodingFault(bytes, wanted, file);
  return { problem: `It is not UTF-8 (column ${column}). ${hint}.` };
}

/** Where a line is not UTF-8, and what to do. */
export function encodingFault(
  bytes: Buffer,
  wanted: "JSON lines" | "lines",
  file: string | undefined,
): { readonly column: number; readonly hint: string } {
  return {
    column: columnOfOther(bytes),
    hint: `If it is Latin-1: \`${conversionOf("latin1", wanted, file)}\``,
  };
}

/** Whether a value of JSON is an object. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const mostNames = 12;

/** The names of a line's fields, as a message has them: the first 12, escaped. */
export function namesIn(fields: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(fields);
  return names.slice(0, mostNames).map(named).join(", ") + (names.length > mostNames ? " and others" : "");
}

/** The value of a line of JSON. */
export function lineJson(text: string): Reading<unknown> {
  const value = orUndefined<unknown>(() => JSON.parse(text));
  return value === undefined ? { problem: `It is not JSON (${faultText(text, false)}).` } : { value };
}

/**
 * Where and why a text is not JSON.
 * @param hasLines Whether the text may have several lines, so that the line is named
 */
export function faultText(text: string, hasLines: boolean): string {
  const { line, column, reason } = jsonFault(text) ?? { line: 1, column: 1, reason: "for another reason" };
  return `${hasLines ? `line ${line}, ` : ""}column ${column}: ${reason}`;
}

// The column of the first bytes that are not UTF-8. They decode to U+FFFD, which the text may also contain itself.
function columnOfOther(bytes: Buffer): number {
  const text = bytes.toString("utf8");
  for (let at = text.indexOf("\ufffd"); at >= 0; at = text.indexOf("\ufffd", at + 1)) {
    const before = Buffer.byteLength(text.slice(0, at));
    if (bytes.toString("hex", before, before + 3) !== "efbfbd") return charactersIn(text.slice(0, at)) + 1;
  }
  return 1;
}
