import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { UploadFile, UploadProgress } from "../../src/index.js";
import { connect, transports } from "../support/clients.js";
import { temporaryFolder } from "../support/project.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
const size = 3 * 1024 * 1024 + 5;
let folder: string;
let remove: () => Promise<void>;

beforeAll(async () => {
  ({ folder, remove } = await temporaryFolder());
  await writeFile(path.join(folder, "train.jsonl"), Buffer.alloc(size, "x"));
});
afterAll(() => remove());

const files: readonly (readonly [what: string, file: () => UploadFile, totalBytes: number])[] = [
  ["a path", () => path.join(folder, "train.jsonl"), size],
  ["a Blob", () => new Blob([Buffer.alloc(size)]), size],
  ["bytes", () => new Uint8Array(5), 5],
  ["an empty file", () => new Uint8Array(), 0],
];

describe.each(transports)("onProgress over $name", ({ options }) => {
  test.each(files)("of %s never goes back and ends at the total", async (_what, file, totalBytes) => {
    const seen: UploadProgress[] = [];
    await connect(server.url, options).datasets.upload("reviews", file(), {
      name: "train.jsonl",
      onProgress: (progress) => seen.push(progress),
    });
    const sent = seen.map(({ sentBytes }) => sentBytes);
    expect(sent).toEqual([...sent].sort((a, b) => a - b));
    expect(seen.at(-1)).toEqual({ sentBytes: totalBytes, totalBytes });
    expect(seen.every((progress) => progress.totalBytes === totalBytes)).toBe(true);
  });
});

test.each(transports)("onProgress over $name reports a path while it is read", async ({ options }) => {
  const seen: number[] = [];
  await connect(server.url, options).datasets.upload("reviews", path.join(folder, "train.jsonl"), {
    onProgress: ({ sentBytes }) => seen.push(sentBytes),
  });
  expect(seen.length).toBeGreaterThan(1);
  expect(seen[0]).toBeLessThan(size);
});

test("a fetch function that answers without having asked for the file is taken at its word", async () => {
  const fetch = async () => Response.json({ id: "file-1", bytes: size });
  const seen: UploadProgress[] = [];
  const upload = { verifyBytes: true, onProgress: (progress: UploadProgress) => seen.push(progress) };
  const client = connect("https://service.test", { fetch });
  await client.datasets.upload("reviews", path.join(folder, "train.jsonl"), upload);
  expect(seen).toEqual([{ sentBytes: size, totalBytes: size }]);
});
