// Every schema rule that a request can have, from openapi.yaml alone: in a copy of the project, built and called.
import { readFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { CallPromise, StatusError } from "../../src/index.js";
import type { TestService } from "../../src/testing/index.js";
import { addOperations } from "../support/addedOperations.js";
import { canaryKey } from "../support/canary.js";
import { copyProject, run, temporaryFolder } from "../support/project.js";
import { useRecordingServer } from "../support/recordingServer.js";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 600_000 });

type Call = (shelf: string, book: object, parameters?: object) => CallPromise<unknown>;

const server = useRecordingServer();
let folder: string;
let remove: () => Promise<void>;
let addBook: Call;
let service: TestService;

beforeAll(async () => {
  ({ folder, remove } = await temporaryFolder());
  await copyProject(folder);
  await addOperations(folder, "rules.yaml");
  const node = [process.execPath, "--conditions=tunerank-source", "--import", "tsx"];
  for (const [program = "", ...args] of [
    ["npx", "redocly", "lint", "openapi.yaml"],
    [...node, "scripts/generate/run.ts"],
    [...node, "scripts/build/run.ts"],
  ]) {
    const { exitCode, stdout, stderr } = await run(program, args, { cwd: folder });
    expect(exitCode, stdout + stderr).toBe(0);
  }
  const load = (name: string) => import(pathToFileURL(path.join(folder, "dist", name)).href);
  const [{ createClient }, { createTestService }] = await Promise.all([
    load("index.js"),
    load("testing/index.js"),
  ]);
  service = createTestService();
  addBook = (...given) => {
    const client = createClient({ baseUrl: server.url, apiKey: canaryKey, accountId: "acme" });
    return client.shelves.addBook(...given);
  };
});
afterEach(() => service.reset());
afterAll(() => remove());

const hard = { kind: "CoverHard", color: "red" };
const emma = { title: "Emma", cover: hard };

const taken: readonly object[] = [
  emma,
  { ...emma, title: "😀😀😀😀😀", isbn: "123", authors: ["Jane", "Ann"], language: "BOOK_LANGUAGE_DE" },
  { ...emma, issn: "of another form", labels: { a: "b", "c d": "" }, unknown: 1 },
  { ...emma, cover: { kind: "CoverSoft", grams: 80 }, page: { width: 300, height: 0.3 }, anything: [null] },
  { ...emma, isbn: "123", issn: undefined, page: { width: 0.001, height: undefined } },
];

const refused: readonly [rule: string, book: object, message: string][] = [
  ["minLength", { title: "" }, "title must have at least 1 character, not 0."],
  ["maxLength", { title: "Persuasion" }, "title must have at most 5 characters, not 10."],
  ["pattern", { isbn: "12" }, "isbn must have the form NNN, such as 123."],
  ["enum", { language: "FR" }, "language must be one of BOOK_LANGUAGE_EN, BOOK_LANGUAGE_DE."],
  ["minItems", { authors: [] }, "authors must be a list of at least 1 string when given."],
  ["maxItems", { authors: ["Ann", "Bob", "Cy"] }, "authors must have at most 2 items, not 3."],
  [
    "uniqueItems",
    { authors: ["Ann", "Ann"] },
    "authors[1] is the same as authors[0]: no two items may be equal.",
  ],
  ["items", { authors: ["J"] }, "authors[0] must have at least 2 characters, not 1."],
  ["additionalProperties", { labels: { a: "long" } }, "labels.a must have at most 3 characters, not 4."],
  ["maxProperties", { labels: { a: "", b: "", c: "" } }, "labels must have at most 2 fields, not 3."],
  ["minProperties", { page: {} }, "page must have at least 1 field, not 0."],
  ["exclusiveMinimum", { page: { width: 0 } }, "page.width must be greater than 0, not 0."],
  ["maximum", { page: { width: 301 } }, "page.width must be at most 300, not 301."],
  ["exclusiveMaximum", { page: { height: 400 } }, "page.height must be less than 400, not 400."],
  ["multipleOf", { page: { height: 0.35 } }, "page.height must be a multiple of 0.1, not 0.35."],
  ["minimum", { cover: { kind: "CoverSoft", grams: 7 } }, "cover.grams must be at least 80, not 7."],
  [
    "a discriminator of another value",
    { cover: { kind: "HardCover" } },
    "cover.kind must be one of CoverHard, CoverSoft.",
  ],
  ["oneOf", { cover: { kind: "CoverHard" } }, "cover.color must be a string."],
  ["type", { cover: "hard" }, "cover must be an object."],
  ["not", { isbn: "123", issn: "12" }, "body may not have isbn and issn at once."],
];

test.each(taken)("%o is sent as it is", async (book) => {
  server.reply({ json: { title: "Emma" } });
  expect(await addBook("shelf-1", book, { floor: 9, "x-desk": "a1" })).toEqual({ title: "Emma" });
  const { only } = server;
  expect([only.method, only.url]).toEqual(["POST", "/v1/accounts/acme/shelves/shelf-1/books?floor=9"]);
  expect(JSON.parse(only.body.toString())).toEqual(JSON.parse(JSON.stringify(book)));
});

async function failureOf(call: () => CallPromise<unknown>): Promise<StatusError> {
  return await call().then(
    () => expect.unreachable("It did not fail."),
    (error: StatusError) => error,
  );
}

async function sendToService(book: object, target = "/shelves/shelf-1/books"): Promise<[number, string]> {
  const response = await service.fetch(`https://service.test/v1/accounts/acme${target}`, {
    method: "POST",
    headers: { authorization: `Bearer ${canaryKey}`, "content-type": "application/json" },
    body: JSON.stringify(book),
  });
  return [response.status, await response.text()];
}

describe("what breaks a rule is refused before anything is sent, and by the test service with the same words:", () => {
  test.each(refused)("%s", async (_, part, message) => {
    const code = /must be (at |greater|less|a multiple)/.test(message) ? "OUT_OF_RANGE" : "INVALID_ARGUMENT";
    const error = await failureOf(() => addBook("shelf-1", { ...emma, ...part }));
    expect([error.code, error.text, error.executed]).toEqual([code, message, "no"]);
    expect(server.requests).toEqual([]);
    const answer = await sendToService({ ...emma, ...part });
    expect(answer).toEqual([400, expect.stringContaining(message)]);
  });

  test.each<[where: string, call: () => CallPromise<unknown>, message: string]>([
    ["an id", () => addBook("shelf", emma), "shelfId must have the form shelf-N, such as shelf-1."],
    ["the query", () => addBook("shelf-1", emma, { floor: 10 }), "floor must be at most 9, not 10."],
    [
      "a date and time of the query",
      () => addBook("shelf-1", emma, { floor: 9, since: "2026-13-02T09:15:00Z" }),
      "since must be a date and time, such as 2026-03-02T09:15:00Z.",
    ],
    [
      "a header",
      () => addBook("shelf-1", emma, { "x-desk": "long" }),
      "x-desk must have at most 3 characters, not 4.",
    ],
  ])("in %s", async (_, call, message) => {
    expect((await failureOf(call)).text).toBe(message);
    expect(server.requests).toEqual([]);
  });
});

test("the test service takes what breaks none, and refuses what is left to the service, too, and an id", async () => {
  expect(await sendToService(emma)).toEqual([200, expect.stringContaining("Emma")]);
  expect(await sendToService({ ...emma, issn: "of another form" })).toEqual([
    400,
    expect.stringContaining("issn must have the form NN, such as 12."),
  ]);
  expect(await sendToService(emma, "/shelves/top/books")).toEqual([
    400,
    expect.stringContaining("shelfId must have the form shelf-N, such as shelf-1."),
  ]);
});

test("the types know maps, nested objects and the kinds of a cover", async () => {
  const types = await readFile(path.join(folder, "src/generated/types.ts"), "utf8");
  expect(types).toContain("export type BookCover = HardCover | SoftCover;");
  expect(types).toContain('/** Which cover it is. */\n    kind: "CoverHard";');
  expect(types).toContain("[key: string]: string;");
  expect(types).not.toContain('components["schemas"]');
});
