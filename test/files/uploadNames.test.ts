import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, failureOf, transports } from "../support/clients.js";
import { temporaryFolder } from "../support/project.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
let folder: string;
let remove: () => Promise<void>;

beforeAll(async () => {
  ({ folder, remove } = await temporaryFolder());
});
afterAll(() => remove());

const names: readonly (readonly [name: string, sent: string])[] = [
  ["train.jsonl", "train.jsonl"],
  ["/x/y.jsonl", "y.jsonl"],
  ["a\\b.jsonl", "b.jsonl"],
  ["C:\\data\\train.jsonl", "train.jsonl"],
  ["a\\b/c.jsonl", "c.jsonl"],
  ["a/b\\c.jsonl", "c.jsonl"],
  ["../../secrets.jsonl", "secrets.jsonl"],
  ['say "hi".jsonl', "say %22hi%22.jsonl"],
  ["50%.jsonl", "50%.jsonl"],
  ["a;b=c.jsonl", "a;b=c.jsonl"],
  [" spaces .jsonl", " spaces .jsonl"],
  ["données-検索-🔎.jsonl", "données-検索-🔎.jsonl"],
  [".hidden", ".hidden"],
];

const refused: readonly (readonly [what: string, name: unknown])[] = [
  ["empty", ""],
  ["a separator at its end", "data/"],
  ["a dot", "."],
  ["two dots", "data/.."],
  ["a line feed", "a\nb.jsonl"],
  ["a carriage return", "a\rb.jsonl"],
  ["a NUL", "a\0.jsonl"],
  ["a lone surrogate", "a\ud83d.jsonl"],
  ["a number", 7],
  ["null", null],
];

describe.each(transports)("over $name", ({ options }) => {
  test.each(names)("a File named %j is sent as %j", async (name, sent) => {
    await connect(server.url, options).datasets.upload("reviews", new File(["x"], name));
    expect(server.only.files.map(({ filename }) => filename)).toEqual([sent]);
  });

  test.each(names)("bytes with {name: %j} are sent as %j", async (name, sent) => {
    await connect(server.url, options).datasets.upload("reviews", new Uint8Array([1]), { name });
    expect(server.only.files.map(({ filename }) => filename)).toEqual([sent]);
  });

  test.each(refused)("a name that is or has %s is refused before anything is sent", async (_what, name) => {
    const client = connect(server.url, options);
    const call = () => client.datasets.upload("reviews", new Uint8Array([1]), { name: name as string });
    expect(await failureOf(call)).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
    expect(server.requests).toEqual([]);
  });

  test("a path is sent with its base name alone", async () => {
    const inner = path.join(folder, 'data "1" for données');
    await mkdir(inner, { recursive: true });
    await writeFile(path.join(inner, "train set.jsonl"), "x");
    await connect(server.url, options).datasets.upload("reviews", path.join(inner, "train set.jsonl"));
    expect(server.only.files.map(({ filename }) => filename)).toEqual(["train set.jsonl"]);
    expect(server.only.body.includes("données")).toBe(false);
  });

  test.each([
    ["a Blob", new Blob(["x"])],
    ["a Uint8Array", new Uint8Array([1])],
  ])("%s without a name is refused, and the error tells how to give one", async (_what, file) => {
    const error = await failureOf(() => connect(server.url, options).datasets.upload("reviews", file));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
    expect(error.message).toContain("{name");
    expect(server.requests).toEqual([]);
  });
});
