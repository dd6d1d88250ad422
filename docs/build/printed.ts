import path from "node:path";

// Who answered when an output of docs/snippets was recorded; test/snippets.test.ts holds these lists against its runs.
// Whatever they do not name met a server of the test, with answers made up for it.
export const printedWith: Readonly<Record<string, readonly string[]>> = {
  "the contract's mock: its examples, whatever is sent": [
    "cli",
    "fourCalls",
    "home",
    "rerank",
    "resume",
    "scale",
    "upload",
  ],
  "the stand-in of tunerank/testing": ["first", "testServer"],
  "nothing sent": ["mockFirst", "wrongArgument"],
};

const madeUp = "a test server: its answers are made up";

/** What stands before a recorded output, `*.out.txt`; undefined for any other file. */
export function printedNote(file: string): string | undefined {
  const name = path.basename(file, ".out.txt");
  if (`${name}.out.txt` !== path.basename(file)) return undefined;
  const [source = madeUp] = Object.entries(printedWith).find(([, names]) => names.includes(name)) ?? [];
  return `prints, with ${source}`;
}
