import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import type { UploadFile, UploadOptions } from "../../src/index.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { useTemporaryFile } from "../support/temporaryFile.js";

const server = useRecordingServer();
const content = Buffer.alloc(2_500_000, "x");
const file = useTemporaryFile(content);

const sources: readonly (readonly [what: string, source: () => UploadFile, bytes: number])[] = [
  ["a path", () => file, content.byteLength],
  ["a Blob", () => new Blob([content]), content.byteLength],
  ["a Uint8Array", () => content, content.byteLength],
  ["a Readable", () => Readable.from([content.subarray(0, 7), content.subarray(7)]), content.byteLength],
  ["a web ReadableStream", () => new Blob([content]).stream(), content.byteLength],
  ["text beyond ASCII", () => Readable.from(["東京"]), 6],
  ["an empty file", () => new Uint8Array(), 0],
];

describe.each(transports)("over $name", ({ options }) => {
  function upload(source: UploadFile, more?: UploadOptions): Promise<{ bytes: number }> {
    return connect(server.url, options).datasets.upload("reviews", source, { name: "train.jsonl", ...more });
  }

  describe.each(sources)("verifyBytes of %s", (_what, source, bytes) => {
    test("passes when the answer counts what was sent", async () => {
      server.reply({ json: { id: "file-1", bytes } });
      expect(await upload(source(), { verifyBytes: true })).toEqual({ id: "file-1", bytes });
      expect(server.only.files[0]?.bytes.byteLength).toBe(bytes);
    });

    test.each([
      ["fewer", bytes - 1],
      ["more", bytes + 1],
      ["the whole body", bytes + 300],
    ])("fails with DATA_LOSS when it counts %s", async (_how, answered) => {
      const answer = { id: "file-1", bytes: answered };
      server.reply({ json: answer });
      const error = await failureOf(() => upload(source(), { verifyBytes: true }));
      expect(error).toMatchObject({
        code: "DATA_LOSS",
        executed: "yes",
        codeSource: "client",
        inferred: true,
        operation: "uploadDatasetFile",
        body: answer,
      });
      expect(error.message).toContain(String(answered));
      expect(error.message).toContain(String(bytes));
    });
  });

  test.each([
    ["is missing", { id: "file-1" }],
    ["is text", { id: "file-1", bytes: String(content.byteLength) }],
    ["is null", { id: "file-1", bytes: null }],
  ])("verifyBytes fails with DATA_LOSS when the answer's bytes %s", async (_how, json) => {
    server.reply({ json });
    const error = await failureOf(() => upload(file, { verifyBytes: true }));
    expect(error).toMatchObject({ code: "DATA_LOSS", executed: "yes" });
  });

  test("verifyBytes leaves an error of the service as it is", async () => {
    server.reply({ status: 404, json: { bytes: 1 } });
    const error = await failureOf(() => upload(file, { verifyBytes: true }));
    expect(error).toMatchObject({ code: "NOT_FOUND", executed: "no" });
  });

  test.each([undefined, false])("verifyBytes %s compares nothing", async (verifyBytes) => {
    server.reply({ json: { id: "file-1", bytes: 1 } });
    expect(await upload(file, { verifyBytes })).toEqual({ id: "file-1", bytes: 1 });
  });

  test.each([
    ["a string", "true"],
    ["a number", 1],
    ["null", null],
    ["an object", {}],
  ])("verifyBytes that is %s is refused before anything is sent", async (_what, verifyBytes) => {
    const error = await failureOf(() => upload(file, { verifyBytes: verifyBytes as unknown as boolean }));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no", codeSource: "client" });
    expect(error.message).toContain("verifyBytes");
    expect(server.requests).toEqual([]);
  });

  test("an error of verifyBytes keeps the attempt that brought the answer", async () => {
    server.reply({ json: { id: "file-1", bytes: 1 }, headers: { "x-request-id": "req-7" } });
    const error = await failureOf(() => upload(file, { verifyBytes: true }));
    expect(error).toMatchObject({ requestId: "req-7", httpStatus: 200 });
    expect(error.attempts).toMatchObject([{ number: 1, code: "DATA_LOSS" }]);
  });
});
