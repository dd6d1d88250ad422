// What a line of an input holds.
import { orUndefined } from "../context.js";
import { conversionOf } from "./formats.js";
import { jsonFault } from "./jsonFault.js";
import type { Line } from "./lines.js";

/** What was read, or a sentence about why it cannot be. */
export type Reading<T> =
  | { readonly value: T; readonly problem?: never }
  | { readonly value?: never; readonly problem: string };

const decoder = new TextDecoder("utf-8", { fatal: true });

/** The text of a line, without its end. */
export function lineText({ bytes }: Line, wanted: "JSON lines" | "lines"): Reading<string> {
  if (bytes === undefined) return { problem: "It is longer than 64 MiB." };
  const text = orUndefined(() => decoder.decode(bytes));
  if (text !== undefined) return { value: text.endsWith("\r") ? text.slice(0, -1) : text };
  const convert = conversionOf("latin1", wanted);
  return { problem: `It is not UTF-8 (column ${columnOfOther(bytes)}). If it is Latin-1: ${convert}` };
}

/** The value of a line of JSON. */
export function lineJson(text: string): Reading<unknown> {
  const value = orUndefined<unknown>(() => JSON.parse(text));
  return value === undefined ? { problem: `It is not JSON (${faultText(text, false)}).` } : { value };
}

/** Where and why a text is no JSON. @param hasLines Whether it may have several */
export function faultText(text: string, hasLines: boolean): string {
  const { line, column, reason } = jsonFault(text) ?? { line: 1, column: 1, reason: "for another reason" };
  return `${hasLines ? `line ${line}, ` : ""}column ${column}: ${reason}`;
}

// The first character that stands for bytes which are none.
function columnOfOther(bytes: Buffer): number {
  const text = bytes.toString("utf8");
  for (let at = text.indexOf("\ufffd"); at >= 0; at = text.indexOf("\ufffd", at + 1)) {
    const before = Buffer.byteLength(text.slice(0, at));
    if (bytes.toString("hex", before, before + 3) !== "efbfbd") return [...text.slice(0, at)].length + 1;
  }
  return 1;
}
