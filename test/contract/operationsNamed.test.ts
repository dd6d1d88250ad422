import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { nameOf } from "../../src/testing/behaviours.js";
import { idsWhere } from "../support/contract.js";
import { root } from "../support/project.js";

// Where a person wrote something for an operation. All else is read from the row of openapi.yaml, so a new operation
// is no new place; a file that names none any more leaves its line here.
const written: readonly (readonly [why: string, folder: string, files: string])[] = [
  [
    "its wrapper, with a signature that no row says",
    "src/wrappers/",
    "datasets deployments reinforcementFineTuningJobs rerank uploadFile",
  ],
  ["rerank.items: a ranking of many batches", "src/ranking/", "check rank merge types"],
  ["bulk, which ranks", "src/bulk/", "index run"],
  [
    "an adapter to what ranks, or to activities with these names",
    "src/adapters/",
    "aiSdk langchain opentelemetry temporal temporalChunk",
  ],
  [
    "its command",
    "src/cli/",
    "bulkCommand bulkLines options uploadCommand mcpCommand program commandLine rerankCommand resourceCommands",
  ],
  ["the tool whose wrapper knows the default model", "src/mcp/", "server"],
  ["what to send less of", "src/call/", "errorResponse"],
  [
    "what the mock server makes up for it, and its short name there",
    "src/testing/",
    "behaviours index types",
  ],
  [
    "what its response cannot do without, as its wrapper reads it",
    "scripts/generate/conformance/",
    "expectations",
  ],
  ["the name of what a client under test must be able to do", "src/conformance/", "cells"],
  ["a check that calls it by hand, or a caller in another language", "checks/", ""],
];

const searched = ["src", "scripts", "docs/build", "contract", "checks"];
// Written from the contract, or a release as it was.
const generated =
  /^(src\/generated\/|src\/options\/contractChecks\.ts|src\/wrappers\/contract(Methods|Client)\.ts|contract\/(baseline|revisions|conformance)\/|contract\/CONTRACT-CHANGELOG\.md)/;
// What Git does not keep.
const others =
  /^docs\/generated\/|(^|\/)(node_modules|dist|documented|target|\.\w+)(\/|$)|package-lock\.json$/;

// By its id, or by the short name that a person gave it: the last word of a method, such as get, is anybody's.
const names = idsWhere(() => true).flatMap((id) => [`\\b${id}\\b`, `["']${nameOf(id)}["']`]);
const named = new RegExp(names.join("|"));

async function filesBelow(folder: string): Promise<string[]> {
  const found = await readdir(path.join(root, folder), { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join("/"))
    .filter((file) => !generated.test(file) && !others.test(file));
}

async function placesOf(folder: string): Promise<string[]> {
  const files = await filesBelow(folder);
  const texts = await Promise.all(files.map((file) => readFile(path.join(root, file), "utf8")));
  return files.filter((_, index) => named.test(texts[index] ?? ""));
}

test("an operation is named only where a person wrote something for it", async () => {
  const found = (await Promise.all(searched.map(placesOf))).flat();
  const listed = written.flatMap(([, folder, files]) =>
    files.split(" ").map((name) => (name === "" ? folder : `${folder}${name}.ts`)),
  );
  const isBelow = (file: string, place: string) =>
    place.endsWith("/") ? file.startsWith(place) : file === place;
  const fresh = found.filter((file) => !listed.some((place) => isBelow(file, place)));
  expect(fresh, "read it from the row of the contract, or list the file with its reason").toEqual([]);
  const gone = listed.filter((place) => !found.some((file) => isBelow(file, place)));
  expect(gone, "it names no operation any more: take it off the list").toEqual([]);
});

test("nothing that a person wrote says how many operations there are", async () => {
  const pages = (await Promise.all(["docs", "src", "scripts"].map(filesBelow))).flat();
  const files = ["README.md", "openapi.yaml", ...pages.filter((file) => /\.(md|ts|yaml)$/.test(file))];
  const texts = await Promise.all(files.map((file) => readFile(path.join(root, file), "utf8")));
  const counted = /\b(four|4) (documented )?operations\b|\b(the|all) four (calls|requests)\b/i;
  // What is derived names its own result in an example.
  const counting = files.filter(
    (file, index) => file !== "docs/build/operations.ts" && counted.test(texts[index] ?? ""),
  );
  expect(counting).toEqual([]);
});
