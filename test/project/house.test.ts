import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import {
  circlesIn,
  importsUpwards,
  longFunctions,
  namesTwice,
  readImports,
  sizes,
} from "../../scripts/house.js";
import { root, run } from "../support/project.js";

const imports = readImports();

test("no file of src imports from a room above its own", () => {
  expect(importsUpwards(imports)).toEqual([]);
});

test("the command line imports the public entries, what is generated, and its one private door", () => {
  const doors = /^(cli|generated|conformance|mcp|testing)\/|^(index|bulk\/index|engine)\.ts$/;
  const others = [...imports].flatMap(([file, found]) =>
    file.startsWith("cli/")
      ? found.filter((each) => !doors.test(each)).map((each) => `${file} -> ${each}`)
      : [],
  );
  expect(others).toEqual([]);
  expect(imports.get("cli/withClient.ts")).toContain("engine.ts");
});

test("no files of src import each other in a circle, types included", () => {
  expect(circlesIn(imports)).toEqual([]);
});

test("no two files of src export a type or a function of one name, and no two of the core have one", () => {
  expect(namesTwice()).toEqual([]);
  const twice = new Map([
    ["call/call.ts", "export interface Answer {}"],
    ["testing/answer.ts", "export class Answer {}\nfunction own() {}"],
    ["call/errorBody.ts", "function own() {}\nasync function read() {}"],
    ["transport/fetch.ts", "function read() {}"],
  ]);
  expect(namesTwice(twice)).toEqual([
    "Answer: call/call.ts, testing/answer.ts",
    "read: call/errorBody.ts, transport/fetch.ts",
  ]);
});

test("an arrow that runs up and a circle would be found", () => {
  const wrong = new Map([
    ["call/call.ts", ["wrappers/rerank.ts"]],
    ["wrappers/rerank.ts", ["wrappers/types.ts", "call/call.ts"]],
    ["wrappers/types.ts", ["wrappers/rerank.ts"]],
  ]);
  expect(importsUpwards(wrong)).toEqual(["call/call.ts -> wrappers/rerank.ts"]);
  expect(circlesIn(wrong)).toEqual([["call/call.ts", "wrappers/rerank.ts", "wrappers/types.ts"]]);
});

test("what the checks of Temporal import compiles without the conditions of this package's sources", () => {
  const folder = path.join(root, "checks/temporal");
  const found = new Set<string>();
  const follow = (file: string): void => {
    if (found.has(file) || !existsSync(file)) return;
    found.add(file);
    for (const [, to = ""] of readFileSync(file, "utf8").matchAll(/ from "(\.[^"]+)\.js"/g))
      follow(path.resolve(path.dirname(file), `${to}.ts`));
  };
  for (const below of ["", "onServer", "onRedis"])
    for (const name of readdirSync(path.join(folder, below)))
      if (name.endsWith(".ts")) follow(path.join(folder, below, name));
  expect(found).toContain(path.join(root, "test/support/servers.ts"));
  expect([...found].filter((file) => / from "#platform"/.test(readFileSync(file, "utf8")))).toEqual([]);
});

test("the entries, which are files of their own, share no more than three names", () => {
  const texts = [...imports.keys()].map((file) => readFileSync(path.join(root, "src", file), "utf8"));
  const named = texts.flatMap((text) => text.match(/Symbol\.for\("tunerank\.\w+"\)/g) ?? []);
  expect([...named].sort()).toEqual(
    ["StatusError", "client", "policy"].map((name) => `Symbol.for("tunerank.${name}")`),
  );
});

// With some room: `npx tsx scripts/count.ts` prints what there is.
test("the core is no larger than it was made, and no file is longer than one idea", () => {
  const { files, lines, types, longest } = sizes();
  expect(files).toBeLessThanOrEqual(69);
  expect(lines).toBeLessThanOrEqual(11_500);
  expect(types).toBeLessThanOrEqual(172);
  expect(longest).toBeLessThanOrEqual(600);
  expect(longFunctions(80)).toEqual([]);
  expect(longFunctions(39).length).toBeGreaterThan(0);
});

test.each([
  ["adapters", 1_800],
  ["cli", 3_300],
  ["conformance", 2_100],
  ["mcp", 200],
  ["testing", 1_050],
])("the room %s has at most %i lines", (room, most) => {
  const files = [...imports.keys()].filter((file) => file.startsWith(`${room}/`));
  const lines = files.map(
    (file) => readFileSync(path.join(root, "src", file), "utf8").split("\n").length - 1,
  );
  expect(lines.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(most);
});

test("a warm rerank passes at most 15 files and 67 functions", async () => {
  const { exitCode, stdout } = await run(process.execPath, ["--import", "tsx", "scripts/count.ts", "--call"]);
  const files = stdout.trim().split("\n").slice(1);
  expect(exitCode).toBe(0);
  expect(files).toContain("  call/call.ts");
  expect(files.length).toBeLessThanOrEqual(15);
  const functions = Number(/with (\d+) functions/.exec(stdout)?.[1]);
  expect(functions).toBeGreaterThan(20);
  expect(functions).toBeLessThanOrEqual(67);
});
