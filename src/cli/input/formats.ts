// Recognizes inputs in another format by their first bytes, and has a shell command that converts each format to lines.

import { orUndefined } from "../context.js";
import { otherThanInput, shellName, sqlName } from "./shellName.js";

/** What a command expects to read: lines of JSON, lines of text, or one JSON value. */
export type Wanted = "JSON lines" | "lines" | "JSON";

export type FormatName =
  | `utf${"32" | "32le" | "32be" | "16" | "16le" | "16be"}`
  | "latin1"
  | "gzipTwice"
  | "zstd"
  | "xz"
  | "bzip2"
  | "xlsx"
  | "zip"
  | "tar"
  | "parquet"
  | "avro"
  | "sqlite"
  | `arrow${"File" | "Stream"}`
  | "carriageReturns"
  | "html"
  | "xml"
  | "csv"
  | `json${"Array" | "Value"}`
  | "binary";

interface Format {
  readonly name: string;
  /** A shell command that converts the input. FILE stands for its name, 'FILE' for its name in SQL, NEW for the new file. */
  readonly convert: string;
  /** The command where one JSON value is wanted, if it is another. */
  readonly convertToJson?: string;
}

const iconv = (encoding: string): string => `iconv -f ${encoding} -t UTF-8 FILE > NEW`;
const duckdb = (from: string): Omit<Format, "name"> => {
  const to = (format: string): string => `duckdb -c "COPY (FROM ${from}) TO 'NEW' (FORMAT ${format})"`;
  return { convert: to("json"), convertToJson: to("json, ARRAY true") };
};
const arrow = (open: string): Omit<Format, "name"> => {
  const rows = `i.${open}(sys.argv[1]).read_all().to_pylist()`;
  const python = (code: string): string =>
    `python3 -c "import json, sys, pyarrow.ipc as i; ${code}" FILE > NEW`;
  return {
    convert: python(`[print(json.dumps(row)) for row in ${rows}]`),
    convertToJson: python(`print(json.dumps(${rows}))`),
  };
};
const sqlite = "sqlite3 -json FILE 'SELECT * FROM TABLE'";

/** The name of each format, and how it is converted. Nothing converts binary data or XML. */
export const formats: Readonly<Record<FormatName, Format>> = {
  utf32: { name: "UTF-32 text", convert: iconv("UTF-32") },
  utf32le: { name: "UTF-32 text", convert: iconv("UTF-32LE") },
  utf32be: { name: "UTF-32 text", convert: iconv("UTF-32BE") },
  utf16: { name: "UTF-16 text", convert: iconv("UTF-16") },
  utf16le: { name: "UTF-16 text", convert: iconv("UTF-16LE") },
  utf16be: { name: "UTF-16 text", convert: iconv("UTF-16BE") },
  latin1: { name: "Latin-1 text", convert: iconv("LATIN1") },
  gzipTwice: { name: "gzip in gzip", convert: "gzip -dc FILE > NEW" },
  zstd: { name: "zstd", convert: "zstd -dc FILE > NEW" },
  xz: { name: "xz", convert: "xz -dc FILE > NEW" },
  bzip2: { name: "bzip2", convert: "bzip2 -dc FILE > NEW" },
  xlsx: { name: "an Excel file (xlsx)", ...duckdb("read_xlsx('FILE')") },
  zip: { name: "a zip file", convert: "unzip -p FILE > NEW" },
  tar: { name: "a tar file", convert: "tar -xOf FILE > NEW" },
  parquet: { name: "Parquet", ...duckdb("read_parquet('FILE')") },
  avro: { name: "Avro", ...duckdb("read_avro('FILE')") },
  sqlite: {
    name: "an SQLite database",
    convert: `${sqlite} | jq -c '.[]' > NEW`,
    convertToJson: `${sqlite} > NEW`,
  },
  arrowFile: { name: "an Arrow file", ...arrow("open_file") },
  arrowStream: { name: "an Arrow stream", ...arrow("open_stream") },
  carriageReturns: { name: "text whose lines end in CR only", convert: "tr '\\r' '\\n' < FILE > NEW" },
  html: { name: "a web page (HTML)", convert: "curl -fL -o NEW URL" },
  xml: { name: "XML", convert: "" },
  csv: { name: "CSV", ...duckdb("read_csv('FILE')") },
  jsonArray: { name: "one JSON array", convert: "jq -c '.[]' FILE > NEW" },
  jsonValue: { name: "JSON over several lines", convert: "jq -c . FILE > NEW" },
  binary: { name: "binary data", convert: "" },
};

// A place in a signature where any byte may stand.
const any = -1;
// The first bytes of each format. The order matters: the byte order mark of UTF-32 begins with that of UTF-16. If text
// could begin with a signature, such as PAR1, one more byte is added that text would not have there.
const magic: readonly (readonly [format: FormatName, bytes: readonly number[]])[] = [
  ["utf32", [0xff, 0xfe, 0, 0]],
  ["utf32", [0, 0, 0xfe, 0xff]],
  ["arrowStream", [0xff, 0xff, 0xff, 0xff]],
  ["utf16", [0xff, 0xfe]],
  ["utf16", [0xfe, 0xff]],
  ["zstd", [0x28, 0xb5, 0x2f, 0xfd]],
  ["xz", [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]],
  ["bzip2", [0x42, 0x5a, 0x68, any, 0x31, 0x41, 0x59]],
  ["zip", [0x50, 0x4b, 3, 4]],
  ["zip", [0x50, 0x4b, 5, 6]],
  ["parquet", [0x50, 0x41, 0x52, 0x31, 0x15]],
  ["avro", [0x4f, 0x62, 0x6a, 1]],
  ["sqlite", [...Buffer.from("SQLite format 3\0")]],
  ["arrowFile", [0x41, 0x52, 0x52, 0x4f, 0x57, 0x31, 0, 0]],
];

/** Whether bytes begin as gzip does: no text begins with these two bytes. */
export function isGzip([first, second]: Uint8Array): boolean {
  return first === 0x1f && second === 0x8b;
}

/** The format of an input, if it is not the wanted one. @param head The first bytes, after gzip is decompressed */
export function foreignFormat(head: Buffer, wanted: Wanted): FormatName | undefined {
  if (isGzip(head)) return "gzipTwice";
  const found = magic.find(([, bytes]) =>
    bytes.every((byte, index) => byte === any || head[index] === byte),
  )?.[0];
  if (found === "zip") return /\[Content_Types\]\.xml|xl\//.test(head.toString("latin1")) ? "xlsx" : "zip";
  return found ?? zeroFormat(head) ?? textFormat(head.toString("utf8").replace(/^\uFEFF/, ""), wanted);
}

// How many bytes are searched for a zero byte: text has none, and nearly all other data has one early.
const judgedBytes = 8000;
const tarAt = 257;

// The format of bytes with a zero byte among the first ones. Text in UTF-8 with some lines of zero bytes, as a lost
// write leaves them, is still text: the reader of the lines reports those lines.
function zeroFormat(head: Buffer): FormatName | undefined {
  const bytes = head.subarray(0, judgedBytes);
  if (!bytes.includes(0)) return undefined;
  if (bytes.toString("latin1", tarAt, tarAt + 5) === "ustar") return "tar";
  const hasLine = /(?:^|\n)[^\0\n]+\n/.test(bytes.toString("latin1"));
  return wideText(bytes) ?? (hasLine && isPlain(bytes) ? undefined : "binary");
}

// Characters that text does not have: control characters except tab and line ends, halves of surrogate pairs,
// unassigned characters, and U+FFFD, to which bytes that are not UTF-8 decode.
const noText = /[^\P{C}\p{Cf}\t\n\v\f\r]|\ufffd/u;

// Fewer bytes, or fewer zero bytes among them, may fit UTF-16 by chance.
const leastWide = 16;
const leastZeros = 4;

// Recognizes UTF-32 and UTF-16 without a byte order mark. UTF-8 with some zero bytes may be valid UTF-16 too, so there
// all zero bytes must stand on one side of their two-byte units (zeroSide).
function wideText(bytes: Buffer): FormatName | undefined {
  const whole = bytes.subarray(0, bytes.length & ~3);
  if (isWide(whole, "readUInt32LE")) return "utf32le";
  if (isWide(whole, "readUInt32BE")) return "utf32be";
  const [first, second, third, fourth] = bytes;
  if (first && second === 0 && third && fourth === 0) return "utf16le";
  if (first === 0 && second && third === 0 && fourth) return "utf16be";
  if (bytes.length < leastWide) return undefined;
  const side = isPlain(bytes) ? zeroSide(bytes) : "either";
  if (side === "none") return undefined;
  if (side !== "first" && isUtf16(whole)) return "utf16le";
  return side !== "second" && isUtf16(Buffer.from(whole).swap16()) ? "utf16be" : undefined;
}

// Whether bytes are text in UTF-8, apart from zero bytes. The last character may be incomplete.
function isPlain(bytes: Buffer): boolean {
  return !noText.test(new TextDecoder().decode(bytes, { stream: true }).replace(/\0/g, ""));
}

function isUtf16(bytes: Buffer): boolean {
  return !noText.test(new TextDecoder("utf-16le").decode(bytes, { stream: true }));
}

// Which byte of a two-byte unit all zero bytes are; "none" if they differ, or are few. In UTF-16, line ends and the
// brackets of JSON have such a zero byte, even if all other characters look like UTF-8.
function zeroSide(bytes: Buffer): "first" | "second" | "none" {
  const counts = [0, 0];
  for (const [at, byte] of bytes.entries()) if (byte === 0) counts[at % 2] = (counts[at % 2] ?? 0) + 1;
  const [first = 0, second = 0] = counts;
  if (first + second < leastZeros || (first > 0 && second > 0)) return "none";
  return first > 0 ? "first" : "second";
}

// Whether all units of four bytes are characters.
function isWide(bytes: Buffer, read: "readUInt32LE" | "readUInt32BE"): boolean {
  for (let at = 0; at < bytes.length; at += 4) {
    const unit = bytes[read](at);
    if (unit > 0x10ffff || noText.test(String.fromCodePoint(unit))) return false;
  }
  return bytes.length > 0;
}

const cell = String.raw`(?:"[^"\n]{1,64}"|[\p{L}\d_ .#()/-]{1,64})`;
const header = new RegExp(`^${cell}(?:(?:,${cell})+|(?:;${cell})+|(?:\t${cell})+)\\r?$`, "u");

// Whether two lines look like CSV: a line of column names, then a line with at least as many values.
function isTable(line: string, second: string): boolean {
  if (!header.test(line) || /^\s*[{[]/.test(second)) return false;
  const separator = /[,;\t]/.exec(line.replace(/"[^"]*"/g, ""))?.[0] ?? ",";
  return second.split(separator).length >= line.split(separator).length;
}

// Control characters (category Cc), but for those of text: tab and line ends.
const binary = /[^\P{Cc}\t\n\v\f\r\u0080-\u009f]/u;

function textFormat(text: string, wanted: Wanted): FormatName | undefined {
  if (binary.test(text)) return undefined;
  if (!text.includes("\n") && /\r[^\r\n]/.test(text))
    return wanted === "JSON" ? undefined : "carriageReturns";
  // Any line of text can be a document, so no text counts as another format if lines are wanted.
  if (wanted === "lines") return undefined;
  if (/^\s*<(!doctype html|html)\b/i.test(text)) return "html";
  const [line = "", second] = text.trimStart().split("\n", 2);
  if (second !== undefined && isTable(line, second)) return "csv";
  if (wanted === "JSON") return undefined;
  if (line.startsWith("[") && !(second && orUndefined<unknown>(() => JSON.parse(line)) !== undefined))
    return "jsonArray";
  return /^\{\s*$/.test(line) && second !== undefined ? "jsonValue" : undefined;
}

/**
 * What is said of lines that are all to be ranked as documents, and are probably parts of one JSON value or page; undefined
 * if they are not. A log may begin with a bracket too.
 * @param head The first two lines
 */
export function linesWarning(name: string, head: string): string | undefined {
  const found = /^\s*<\?xml\b/i.test(head) ? "xml" : textFormat(head, "JSON lines");
  const isOne =
    found === "xml" ||
    found === "html" ||
    found === "jsonValue" ||
    (found === "jsonArray" && /^\s*\[\s*(?:["{]|$)/m.test(head));
  if (!isOne) return undefined;
  const warning = `${name} begins as ${formats[found].name} does, and each line is ranked as a document.`;
  if (!found.startsWith("json")) return warning;
  const convert = conversionOf(found, "JSON lines", fileIn(name));
  return `${warning} To rank a field of each object, convert it, and name the field with --field: \`${convert}\`.`;
}

/**
 * The shell command that converts an input.
 * @param wanted Decides what is made, and the ending of the new file: jsonl, txt or json
 * @param file The input's name, if it is known
 */
export function conversionOf(format: FormatName, wanted: Wanted, file: string | undefined): string {
  const { convert, convertToJson = convert } = formats[format];
  const made = otherThanInput(`new.${{ "JSON lines": "jsonl", lines: "txt", JSON: "json" }[wanted]}`, file);
  const filled: Readonly<Record<string, string>> = {
    NEW: made,
    FILE: shellName(file),
    "'FILE'": sqlName(file),
  };
  return (wanted === "JSON" ? convertToJson : convert).replace(
    /\bNEW\b|'FILE'|\bFILE\b/g,
    (found) => filled[found] ?? "",
  );
}

/** An input that is in another format. */
export interface ForeignInput {
  /** The input's name on the command line, such as `--bulk "in.csv"`. */
  readonly name: string;
  /** The input's file, if it is known otherwise than by `name`. */
  readonly file?: string | undefined;
  readonly wanted: Wanted;
  /** What else can be done, as a sentence. */
  readonly advice?: string | undefined;
}

/**
 * The message about an input that is in another format.
 * @param isPacked Whether the input is gzip, and the format is that of its content
 */
export function foreignText(
  { name, wanted, advice, file = fileIn(name) }: ForeignInput,
  format: FormatName,
  isPacked: boolean,
): string {
  const what = wanted === "lines" ? "text in UTF-8" : `${wanted} in UTF-8`;
  const then = format === "html" ? "It was perhaps saved instead of the file. Get the file" : "Convert it";
  const plain = otherThanInput("plain", file);
  const convert = conversionOf(format, wanted, isPacked ? plain : file);
  const whole = isPacked ? `gzip -dc ${shellName(file)} > ${plain} && ${convert}` : convert;
  const sentences = [`${name} is ${formats[format].name}, not ${what}.`];
  if (convert !== "") sentences.push(`${then}: \`${whole}\`.`);
  return [...sentences, ...(advice ? [advice] : [])].join(" ");
}

// The file in a name that `namingFile` made, such as `--bulk "in.csv"`.
function fileIn(name: string): string | undefined {
  return /^\S+ "(.*)"$/s.exec(name)?.[1];
}
