import { expect, test } from "vitest";
import { createProgram } from "../../src/cli/program.js";
import { requests } from "../../src/generated/contract.js";

// Where the command line takes each field of a rerank from.
const places: Readonly<Record<string, string>> = {
  query: "--query",
  documents: "[FILE]",
  model: "--model",
  top_n: "--top-n",
  return_documents: "nowhere: the command has the documents",
  task: "--task",
};

test("the command line has an option for each field of a rerank, or a reason for none", () => {
  const { properties } = requests.rerankDocuments.body;
  expect(
    Object.keys(properties).sort(),
    "a new field: give it an option in src/cli/program.ts and src/cli/rerankCommand.ts, or say here why it has none",
  ).toEqual(Object.keys(places).sort());
  const options = createProgram().commands.find((command) => command.name() === "rerank")?.options;
  const named = Object.values(places).filter((place) => place.startsWith("--"));
  expect(options?.map(({ long }) => long)).toEqual(expect.arrayContaining(named));
});
