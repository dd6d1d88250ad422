import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { proseRead } from "../../scripts/prose.js";

test("no code reads the text of an error to learn something: fields tell it", () => {
  const found = proseRead().filter((each) => !each.startsWith("src/cli/"));
  // Only the punctuation at its end.
  expect(found).toEqual(["src/platform/web.ts: error.message.replace"]);
}, 300_000);

test("a read that learns something would be found, and one that prints would not", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "prose-"));
  const file = path.join(folder, "reads.ts");
  writeFileSync(
    file,
    `export function learns(error: Error): unknown {
      const { message: said } = error;
      const again = error.message;
      return [/x/.test(said), again.includes("x"), error.message === "x", said.replace("x", "y")];
    }
    export const prints = (error: Error): string => \`It failed: \${error.message}\`;
    `,
  );
  try {
    const found = proseRead([file]).map((each) => each.slice(each.indexOf(": ") + 2));
    expect(found).toEqual(["/x/.test(said)", "again.includes", 'error.message === "x"', "said.replace"]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 300_000);
