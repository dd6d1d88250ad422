import { operationPages } from "./operations.js";

const samples = operationPages.flatMap(({ hasGuide, page }) => (hasGuide ? [page] : []));

// Who answered when an output of docs/snippets was recorded; the tests that run the snippets hold these lists against it.
// Whatever they do not name met a server of the test, with answers made up for it.
export const printedWith: Readonly<Record<string, readonly string[]>> = {
  "with the contract's mock: its examples, whatever is sent": ["fourCalls", "home", ...samples],
  "with the stand-in of tunerank/testing": [
    "first",
    "testServer",
    "recipes/rankThousand",
    "recipes/python/rank",
    "recipes/go/rank",
  ],
  "without a request": ["mockFirst", "wrongArgument"],
};

const madeUp = "with a test server whose answers are made up";

/** What stands before a recorded output, `*.out.txt`; undefined for any other file. */
export function printedNote(file: string): string | undefined {
  const name = /(?:^|\/)snippets\/(.+)\.out\.txt$/.exec(file.replaceAll("\\", "/"))?.[1];
  if (name === undefined) return undefined;
  const [source = madeUp] = Object.entries(printedWith).find(([, names]) => names.includes(name)) ?? [];
  return `prints, ${source}`;
}
