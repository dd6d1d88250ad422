// Every block of every guide, as a reader meets it: in a folder with the packed package, against the mock server it names.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { blocksOf, writtenPages } from "../../docs/build/blocks.ts";
import { canRun, runBlocks } from "../../docs/build/runBlocks.ts";

const pages = writtenPages().filter((page) => blocksOf(page).length > 0);

describe("the blocks of", () => {
  let outcomes;

  before(async () => {
    outcomes = await runBlocks(pages);
  });

  for (const page of pages) {
    test(`docs/${page} compile, run and print what stands below them`, () => {
      const wrong = outcomes.filter((each) => each.block.page === page && each.wrong !== undefined);
      assert.deepEqual(
        wrong.map(({ block, wrong: what }) => `docs/${page}:${block.line}: ${what}`),
        [],
        "npm run docs -- --update-outputs writes what they print",
      );
    });
  }

  for (const { page, file, needs } of pages.flatMap(blocksOf).filter((block) => !canRun(block)))
    test(`docs/${page}, ${file}`, { skip: `\`${needs}\` fails here` }, () => {});

  test("print something where the pages say so", () => {
    const printing = pages
      .flatMap(blocksOf)
      .filter((block) => block.does === "run" && block.prints && canRun(block));
    assert.ok(printing.length > 20, `${printing.length} outputs`);
    assert.equal(outcomes.filter(({ printed }) => printed !== undefined).length, printing.length);
  });
});
