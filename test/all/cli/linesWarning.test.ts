import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { tunerank } from "../../support/commandLine.js";
import type { Outcome } from "../../support/project.js";
import { temporaryFolder } from "../../support/project.js";
import { ranked } from "../../support/rankings.js";
import { useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();
let remove: () => Promise<void>;
let input: string;

beforeEach(async () => {
  const made = await temporaryFolder();
  remove = made.remove;
  input = path.join(made.folder, "in");
  server.reply((request) => ranked(request));
});
afterEach(() => remove());

async function rank(text: string, ...more: readonly string[]): Promise<Outcome> {
  await writeFile(input, text);
  return tunerank(["rerank", "--query", "q", input, ...more], { baseUrl: server.url });
}

const rows = [{ q: "one" }, { q: "two" }];

test.each([
  ["one JSON array", JSON.stringify(rows), "jq -c '.[]'"],
  ["one JSON array", JSON.stringify(rows, null, 2), "jq -c '.[]'"],
  ["one JSON array", JSON.stringify(["a", "b"]), "jq -c '.[]'"],
  ["JSON over several lines", JSON.stringify(rows[0], null, 2), "jq -c ."],
  ["a web page (HTML)", "<!doctype html>\n<html>\n", undefined],
  ["XML", '<?xml version="1.0"?>\n<a/>\n', undefined],
])("lines of %s are ranked, and what they are is told: %j", async (what, text, convert) => {
  const { exitCode, stderr } = await rank(text);
  const advice = convert
    ? ` To rank a field of each object, convert it, and name the field with --field: \`${convert} ${input} > new.jsonl\`.`
    : "";
  expect([exitCode, stderr]).toEqual([
    0,
    `Warning: FILE "${input}" begins as ${what} does, and each line is ranked as a document.${advice}\n`,
  ]);
  expect(JSON.parse(`${server.only.body}`).documents).toEqual(text.trim().split("\n"));
  expect((await rank(text, "--quiet")).stderr).toBe("");
  expect(JSON.parse((await rank(text, "--json")).stderr).warning).toContain(`begins as ${what} does`);
});

test.each([
  "[info] started\n[info] ended\n",
  "[2026-01-01] one\n",
  "[1]\n[2]\n",
  '["a"]\n["b"]\n',
  "a, b\n1, 2\n",
  "<b>bold</b>\n",
  '{"q":"one"}\n{"q":"two"}\n',
])("nothing is told of other lines: %j", async (text) => {
  expect(await rank(text)).toMatchObject({ exitCode: 0, stderr: "" });
});
