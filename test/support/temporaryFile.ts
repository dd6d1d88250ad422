import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll } from "vitest";

/** The path of a file with this content, removed after the tests of the calling file. */
export function useTemporaryFile(content: Uint8Array): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "tunerank-test-")));
  const file = path.join(folder, "train.jsonl");
  writeFileSync(file, content);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return file;
}
