import { expect, test } from "vitest";
import { fileChunks } from "../../src/files/multipart.js";
import { fromStream } from "../../src/files/openFile.js";

test("a stream is read no further than one request takes", async () => {
  let read = 0;
  const stream = (async function* () {
    for (; read < 100; read++) yield new Uint8Array(10);
  })();
  const part = { file: fromStream(stream, "a.jsonl", undefined), maxFileBytes: 25, onSent: () => {} };
  const sizes: number[] = [];
  const sent = (async () => {
    for await (const chunk of fileChunks(part)) sizes.push(chunk.byteLength);
  })();
  await expect(sent).rejects.toMatchObject({ code: "OUT_OF_RANGE" });
  expect([sizes, read]).toEqual([[10, 10], 2]);
});
