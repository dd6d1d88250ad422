import { truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { UploadFile, UploadOptions } from "../../src/index.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { run, temporaryFolder } from "../support/project.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
const maxBytes = 150 * 1024 * 1024;
let folder: string;
let remove: () => Promise<void>;

async function sparse(name: string, size: number): Promise<string> {
  const file = path.join(folder, name);
  await writeFile(file, "");
  await truncate(file, size);
  return file;
}

beforeAll(async () => {
  ({ folder, remove } = await temporaryFolder());
});
afterAll(() => remove());

describe.each(transports)("over $name", ({ options }) => {
  async function expectRefused(file: unknown, code: string, call?: UploadOptions): Promise<string> {
    const client = connect(server.url, options);
    const error = await failureOf(() => client.datasets.upload("reviews", file as UploadFile, call));
    expect(error).toMatchObject({
      code,
      executed: "no",
      codeSource: "client",
      operation: "uploadDatasetFile",
    });
    expect(server.requests).toEqual([]);
    return error.message;
  }

  test("a file over the limit is refused before anything is sent", async () => {
    const message = await expectRefused(await sparse("large.jsonl", maxBytes + 1), "OUT_OF_RANGE");
    expect(message).toContain(String(maxBytes));
    expect(message).toContain(String(maxBytes + 1));
  });

  test("a file at the limit is not refused for its size", async () => {
    const file = await sparse("limit.jsonl", maxBytes);
    // The key is asked for after the size was found good: without one nothing needs to be sent.
    const client = connect(server.url, { ...options, apiKey: () => Promise.reject(new Error("no key")) });
    const error = await failureOf(() => client.datasets.upload("reviews", file));
    expect(error.code).toBe("UNAUTHENTICATED");
    expect(server.requests).toEqual([]);
  });

  test("bytes over the limit are refused before anything is sent", async () => {
    await expectRefused(new Blob([new Uint8Array(maxBytes + 1)]), "OUT_OF_RANGE", { name: "large" });
  });

  test("a missing file is refused with the path and where it was looked for", async () => {
    const message = await expectRefused("missing/train.jsonl", "INVALID_ARGUMENT");
    expect(message).toContain("missing/train.jsonl");
    expect(message).toContain(process.cwd());
  });

  test("a folder is refused", async () => {
    expect(await expectRefused(folder, "INVALID_ARGUMENT")).toContain("folder");
    expect(await expectRefused(`${folder}/`, "INVALID_ARGUMENT")).toContain("is a folder");
  });

  test.skipIf(process.platform === "win32")("a pipe is refused without waiting for its writer", async () => {
    const pipe = path.join(folder, `pipe-${Math.random()}`);
    expect((await run("mkfifo", [pipe])).exitCode).toBe(0);
    await expectRefused(pipe, "INVALID_ARGUMENT");
  });

  test.each([
    ["nothing", undefined],
    ["null", null],
    ["a number", 7],
    ["an empty path", ""],
    ["a path with a NUL", "train\0.jsonl"],
    ["a list", ["train.jsonl"]],
    ["an ArrayBuffer", new ArrayBuffer(4)],
    ["a promise", Promise.resolve("train.jsonl")],
    ["an http URL", new URL("https://example.com/train.jsonl")],
    ["a file URL of another machine", new URL("file://server/share/train.jsonl")],
    ["a file URL with an encoded slash", new URL("file:///data%2Ftrain.jsonl")],
  ])("%s as the file is refused", async (_what, file) => {
    await expectRefused(file, "INVALID_ARGUMENT");
    await expectRefused(file, "INVALID_ARGUMENT", { name: "train.jsonl" });
  });

  test.each([
    ["without a slash", "jsonl"],
    ["with a line break", "text/plain\r\nx-evil: 1"],
    ["that is no string", 7],
    ["that is empty", ""],
  ])("a contentType %s is refused", async (_what, contentType) => {
    await expectRefused(new File(["x"], "f"), "INVALID_ARGUMENT", { contentType: contentType as string });
  });

  test("an onProgress that is no function is refused", async () => {
    const onProgress = "log" as unknown as () => void;
    await expectRefused(new File(["x"], "f"), "INVALID_ARGUMENT", { onProgress });
  });
});
