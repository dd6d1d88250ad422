import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { tunerank } from "../../support/commandLine.js";
import { inputRows, textOfRows, wide } from "../../support/inputSamples.js";
import { temporaryFolder } from "../../support/project.js";
import { useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();
let folder: string;
let remove: () => Promise<void>;

beforeEach(async () => {
  ({ folder, remove } = await temporaryFolder());
  const data = [0, 1].map((index) => ({ index, relevance_score: 0.5 }));
  server.reply({ json: { object: "list", model: "m", data, usage: {} } });
});
afterEach(() => remove());

const shell = (line: string): Buffer => execFileSync("sh", ["-c", line], { cwd: folder });
/** What a tool makes of the requests. */
const madeBy = (line: string) => (): Buffer => {
  writeFileSync(path.join(folder, "rows.jsonl"), textOfRows);
  return shell(line);
};
const fromDuckdb = (format: string): string =>
  `duckdb -c "COPY (SELECT id, text FROM 'rows.jsonl') TO 'made' (FORMAT ${format})" > /dev/null && cat made`;
const fromPyarrow = (writer: string): string =>
  `python3 -c "import sys, json, pyarrow as pa; t = pa.Table.from_pylist([json.loads(l) for l in open('rows.jsonl', encoding='utf8')]); w = pa.ipc.${writer}(sys.stdout.buffer, t.schema); w.write_table(t); w.close()"`;

const fromSqlite = `sqlite3 made "CREATE TABLE t (text); INSERT INTO t SELECT value ->> 'text' FROM json_each('[' || rtrim(replace(readfile('rows.jsonl'), char(10), ','), ',') || ']')" && cat made`;

const indented = (row: unknown): string => JSON.stringify(row, null, 2);

/** A file in each format, the tools that make and convert it, and a command that succeeds where these are there. */
const conversions: readonly (readonly [string, string, () => string | Buffer])[] = [
  ["UTF-16", "iconv --version", () => wide(textOfRows)],
  ["UTF-16 without a mark", "iconv --version", () => wide(textOfRows, "").swap16()],
  ["UTF-16 in gzip", "iconv --version && gzip --version", () => gzipSync(wide(textOfRows))],
  ["UTF-32", "iconv --version", madeBy("iconv -f UTF-8 -t UTF-32 rows.jsonl")],
  ["Latin-1", "iconv --version", () => Buffer.from(textOfRows, "latin1")],
  ["gzip in gzip", "gzip --version", () => gzipSync(gzipSync(textOfRows))],
  ["zstd", "zstd --version", madeBy("zstd -qc rows.jsonl")],
  ["xz", "xz --version", madeBy("xz -c rows.jsonl")],
  ["bzip2", "bzip2 --help", madeBy("bzip2 -c rows.jsonl")],
  ["zip", "unzip -v && python3 -m zipfile -h", madeBy("python3 -m zipfile -c made rows.jsonl && cat made")],
  ["tar", "tar --version", madeBy("tar -cf - rows.jsonl")],
  ["UTF-32 without a mark", "iconv --version", madeBy("iconv -f UTF-8 -t UTF-32BE rows.jsonl")],
  ["SQLite", "sqlite3 -version && jq --version", madeBy(fromSqlite)],
  ["CR only", "echo a | tr a b", () => textOfRows.replaceAll("\n", "\r")],
  ["a JSON array", "jq --version", () => JSON.stringify(inputRows, null, 2)],
  ["JSON over several lines", "jq --version", () => inputRows.map(indented).join("\n")],
  ["CSV", "duckdb --version", madeBy(fromDuckdb("csv"))],
  ["Parquet", "duckdb --version", madeBy(fromDuckdb("parquet"))],
  ["Excel", 'duckdb -c "LOAD excel"', madeBy(fromDuckdb("xlsx, HEADER true"))],
  ["Arrow", 'python3 -c "import pyarrow"', madeBy(fromPyarrow("new_file"))],
  ["an Arrow stream", 'python3 -c "import pyarrow"', madeBy(fromPyarrow("new_stream"))],
];
// Whatever this machine can convert.
const here = conversions.filter(([, tools]) => spawnSync("sh", ["-c", tools]).status === 0);

test("there is a tool for most of them", () => {
  expect(here.length).toBeGreaterThan(2);
});

test.each(here)("what is told of %s makes lines that are ranked", async (_what, _tools, make) => {
  const args = (file: string) => [
    "rerank",
    "--query",
    "q",
    "--field",
    "text",
    "--strict",
    path.join(folder, file),
  ];
  const bytes = make();
  writeFileSync(path.join(folder, "in"), bytes);
  const { exitCode, stderr } = await tunerank(args("in"), { baseUrl: server.url });
  const [, line = ""] = /(?:Convert it|If it is Latin-1): `(.*)`/.exec(stderr) ?? [];
  expect([exitCode, line]).toEqual([2, expect.stringContaining(path.join(folder, "in"))]);
  expect(server.connections).toBe(0);
  shell(line.replace("TABLE", "t"));
  expect((await tunerank(args("new.jsonl"), { baseUrl: server.url })).stderr).toBe("");
  const { documents } = JSON.parse(`${server.only.body}`);
  const texts = inputRows.map(({ text }) => text);
  expect(documents).toEqual(texts.slice(0, documents.length));
  expect(readFileSync(path.join(folder, "in"))).toEqual(Buffer.from(bytes as string));
});
