import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { hashesOf, IdTable, printOf, Rows, strengths } from "../../src/cli/rows.js";
import { linesOf } from "../support/bulkFiles.js";
import { temporaryFolder } from "../support/project.js";

let file: string;
let remove: () => Promise<void>;
beforeEach(async () => {
  const { folder, ...made } = await temporaryFolder();
  remove = made.remove;
  file = path.join(folder, "rows.jsonl");
});
afterEach(() => remove());

const printOfText = (text: string): string => text.padEnd(22, "A");

test("two ids with one hash are told apart by their second hash", async () => {
  writeFileSync(file, linesOf({ id: "r0", fingerprint: printOfText("first"), response: {} }));
  const source = { path: file, option: "--output", strengthOf: () => strengths.result };
  const rows = await new Rows(source).read();
  const asked = { ...hashesOf("r0"), fingerprint: printOfText("second") };
  expect(rows.find(asked)).toBe("changed");
  expect(rows.find({ ...asked, check: hashesOf("another id").check })).toBeUndefined();
});

test("a table of ids finds each of many numbers, and no other", () => {
  const table = new IdTable();
  const ids = Array.from({ length: 5000 }, (_, index) => hashesOf(index).hash);
  for (const [index, hash] of ids.entries()) table.add(hash, index);
  for (const [index, hash] of ids.entries()) {
    const found: number[] = [];
    table.some(hash, (number) => found.push(number) < 0);
    expect(found).toEqual([index]);
  }
  expect([table.some(hashesOf("none").hash, () => true), table.size]).toEqual([false, 5000]);
  expect(printOf("AAAAAAAB".padEnd(22, "A"))).toBe(1);
});
