import { gzipSync } from "node:zlib";
import type { Wanted } from "../../src/cli/input/formats.js";

/**
 * What an input begins with, as what it is refused, what it is called, and a part of the line that converts it, with FILE
 * for its name.
 */
export type InputSample = readonly [
  what: string,
  wanted: readonly Wanted[],
  bytes: string | Buffer,
  name: string,
  convert: string,
];

/** Requests, each of which is a document too. */
export const inputRows: readonly Readonly<Record<string, unknown>>[] = [1, 2].map((id) => ({
  id,
  query: `q${id}`,
  documents: ["née", "two"],
  text: `née ${id}`,
}));
export const textOfRows: string = inputRows.map((row) => `${JSON.stringify(row)}\n`).join("");

export const wide = (text: string, mark = "\uFEFF"): Buffer => Buffer.from(mark + text, "utf16le");
const swapped = (text: string, mark?: string): Buffer => wide(text, mark).swap16();
const wider = (text: string): Buffer => {
  const units = [...text].map((character) => character.codePointAt(0) as number);
  return Buffer.from(Uint32Array.from(units).buffer);
};
const widerSwapped = (text: string): Buffer => Buffer.concat([...text].map((each) => wider(each).reverse()));
const cyrillic = "Привет мир\nВторая строка\n";
// The header of a tar file: a name, its fields as octal text, and the format's name.
const tar = Buffer.from(
  `${`${"a.jsonl".padEnd(100, "\0")}0000644\0`.padEnd(257, "\0")}ustar\x0000`.padEnd(512, "\0") + textOfRows,
);
const any: readonly Wanted[] = ["lines", "JSON lines", "JSON"];
const lines: readonly Wanted[] = ["lines", "JSON lines"];
const json: readonly Wanted[] = ["JSON lines", "JSON"];
const jsonLines: readonly Wanted[] = ["JSON lines"];
const bzip2 = "BZh91AY&SY\x00\x00";
const excel = "PK\x03\x04\x14\x00\x06\x00\x08\x00\x00\x00!\x00[Content_Types].xml";

export const inputSamples: readonly InputSample[] = [
  ["UTF-16 with its mark", any, wide(textOfRows), "UTF-16 text", "iconv -f UTF-16 -t UTF-8 FILE"],
  ["UTF-16, big-endian", any, swapped(textOfRows), "UTF-16 text", "iconv -f UTF-16 -t UTF-8 FILE"],
  ["UTF-16 without a mark", any, wide(textOfRows, ""), "UTF-16 text", "iconv -f UTF-16LE -t UTF-8 FILE"],
  [
    "the other without a mark",
    any,
    swapped(textOfRows, ""),
    "UTF-16 text",
    "iconv -f UTF-16BE -t UTF-8 FILE",
  ],
  [
    "UTF-16 in gzip",
    any,
    gzipSync(wide(textOfRows)),
    "UTF-16 text",
    "gzip -dc FILE > plain && iconv -f UTF-16 -t UTF-8 plain",
  ],
  ["UTF-32", any, Buffer.from("fffe00007b000000220000", "hex"), "UTF-32 text", "iconv -f UTF-32"],
  [
    "gzip in gzip",
    any,
    gzipSync(gzipSync(textOfRows)),
    "gzip in gzip",
    "gzip -dc FILE > plain && gzip -dc plain >",
  ],
  ["zstd", any, Buffer.from("28b52ffd2400", "hex"), "zstd", "zstd -dc FILE >"],
  ["xz", any, Buffer.from("fd377a585a000004", "hex"), "xz", "xz -dc FILE >"],
  ["bzip2", any, Buffer.from(bzip2, "latin1"), "bzip2", "bzip2 -dc FILE >"],
  ["zip", any, Buffer.from("PK\x03\x04\x14\x00\x00\x00a.jsonl", "latin1"), "a zip file", "unzip -p FILE >"],
  ["Excel", any, Buffer.from(excel, "latin1"), "an Excel file (xlsx)", "read_xlsx('FILE')"],
  ["Parquet", any, Buffer.from("PAR1\x15\x04\x15\x10", "latin1"), "Parquet", "read_parquet('FILE')"],
  ["Arrow", any, Buffer.from("ARROW1\x00\x00", "latin1"), "an Arrow file", "i.open_file(sys.argv[1])"],
  [
    "an Arrow stream",
    any,
    Buffer.from("ffffffff78000000", "hex"),
    "an Arrow stream",
    "i.open_stream(sys.argv[1])",
  ],
  [
    "CR only",
    lines,
    textOfRows.replaceAll("\n", "\r"),
    "text whose lines end in CR only",
    "tr '\\r' '\\n' < FILE >",
  ],
  ["UTF-16 of Cyrillic words", any, wide(cyrillic, ""), "UTF-16 text", "iconv -f UTF-16LE -t UTF-8 FILE"],
  [
    "the other of Cyrillic words",
    any,
    swapped(cyrillic, ""),
    "UTF-16 text",
    "iconv -f UTF-16BE -t UTF-8 FILE",
  ],
  [
    "UTF-16 of Chinese words",
    any,
    swapped("中文文本 第一行\n第二行\n", ""),
    "UTF-16 text",
    "iconv -f UTF-16BE -t UTF-8 FILE",
  ],
  [
    "UTF-16 of Chinese words whose bytes are letters of UTF-8 too",
    any,
    wide('周\n{"a":1}\n', ""),
    "UTF-16 text",
    "iconv -f UTF-16LE -t UTF-8 FILE",
  ],
  [
    "the other of such words",
    any,
    swapped('周\n{"a":1}\n', ""),
    "UTF-16 text",
    "iconv -f UTF-16BE -t UTF-8 FILE",
  ],
  ["UTF-32 without a mark", any, wider(textOfRows), "UTF-32 text", "iconv -f UTF-32LE -t UTF-8 FILE"],
  ["the other UTF-32", any, widerSwapped(textOfRows), "UTF-32 text", "iconv -f UTF-32BE -t UTF-8 FILE"],
  [
    "SQLite",
    any,
    Buffer.from("SQLite format 3\0\x10\0", "latin1"),
    "an SQLite database",
    "sqlite3 -json FILE",
  ],
  ["Avro", any, Buffer.from("Obj\x01\x04\x14avro.codec", "latin1"), "Avro", "read_avro('FILE')"],
  ["tar", any, tar, "a tar file", "tar -xOf FILE > new."],
  ["tar in gzip", any, gzipSync(tar), "a tar file", "gzip -dc FILE > plain && tar -xOf plain > new."],
  [
    "bytes that are no text, with a CR",
    any,
    Buffer.from("\x01\x02\rab\x00", "latin1"),
    "binary data",
    "UTF-8.",
  ],
  ["bytes that are no text, with commas", any, "ab,c\n\x00,\x01,\x02\n", "binary data", "UTF-8."],
  ["text with a zero byte", any, "one\0two\n", "binary data", "UTF-8."],
  ["numbers of 32 bits", any, Buffer.from("0100000002000000ffffff7f", "hex"), "binary data", "UTF-8."],
  ["HTML", json, "\n<!DOCTYPE html>\n<html>", "a web page (HTML)", "curl -fL -o"],
  ["CSV", json, 'id,"the query",documents\n1,q,"[""one""]"\n', "CSV", "read_csv('FILE')"],
  ["TSV", json, "id\tquery\n1\tq\n", "CSV", "read_csv('FILE')"],
  ["a JSON array", jsonLines, JSON.stringify(inputRows), "one JSON array", "jq -c '.[]' FILE >"],
  [
    "an indented JSON array",
    jsonLines,
    JSON.stringify(inputRows, null, 2),
    "one JSON array",
    "jq -c '.[]' FILE >",
  ],
  [
    "an indented object",
    jsonLines,
    JSON.stringify(inputRows[0], null, 2),
    "JSON over several lines",
    "jq -c . FILE >",
  ],
];
