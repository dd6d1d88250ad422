import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { PassThrough, Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import type { UploadFile, UploadProgress } from "../../src/index.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { sha256, useRecordingServer } from "../support/recordingServer.js";
import { useTemporaryFile } from "../support/temporaryFile.js";

const server = useRecordingServer();
const content = randomBytes(700_001);
const text = "Straße №1 — 東京 🚄\n".repeat(2_000);
const file = useTemporaryFile(content);

function parts(bytes: Uint8Array = content): Uint8Array[] {
  return [bytes.subarray(0, 1), bytes.subarray(1, 1), bytes.subarray(1, 200_000), bytes.subarray(200_000)];
}

async function* generated(): AsyncGenerator<Uint8Array> {
  yield* parts();
}

function webStream(type?: "bytes"): ReadableStream<Uint8Array> {
  const chunks = parts().filter((chunk) => chunk.byteLength > 0);
  return new ReadableStream({
    type: type as undefined,
    pull(controller) {
      const chunk = chunks.shift();
      if (chunk) controller.enqueue(Uint8Array.from(chunk));
      else controller.close();
    },
  });
}

/** One buffer, filled anew for each chunk: what an upload keeps of it must be a copy. */
async function* reusing(): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.alloc(64 * 1024);
  for (let at = 0; at < content.byteLength; at += buffer.byteLength) {
    yield buffer.subarray(0, content.copy(buffer, 0, at, at + buffer.byteLength));
  }
}

const sources: readonly (readonly [what: string, source: () => UploadFile, bytes: Buffer])[] = [
  ["createReadStream", () => createReadStream(file), content],
  ["Readable.from", () => Readable.from(parts()), content],
  ["a PassThrough", () => createReadStream(file).pipe(new PassThrough()), content],
  ["a web ReadableStream", () => webStream(), content],
  ["a web ReadableStream of type bytes", () => webStream("bytes"), content],
  [
    "a web ReadableStream that is not iterable, as in Safari",
    () => {
      const stream = webStream();
      return { getReader: () => stream.getReader(), cancel: (reason) => stream.cancel(reason) };
    },
    content,
  ],
  ["Blob.stream()", () => new Blob([content]).stream(), content],
  ["the body of a Response", () => new Response(content).body ?? webStream(), content],
  ["an async generator", generated, content],
  ["any async iterable", () => ({ [Symbol.asyncIterator]: generated }), content],
  ["an iterable that uses one buffer again", reusing, content],
  ["a Readable of text", () => Readable.from([text.slice(0, 99), text.slice(99)]), Buffer.from(text)],
  [
    "a Readable with an encoding",
    () => Readable.from(parts(Buffer.from(text))).pipe(new PassThrough({ encoding: "utf8" })),
    Buffer.from(text),
  ],
];

describe.each(transports)("over $name", ({ options, name: transport }) => {
  test.each(sources)("%s arrives whole, with its length when size is given", async (_what, source, bytes) => {
    const upload = { name: "data/train.jsonl", size: bytes.byteLength };
    await connect(server.url, options).datasets.upload("reviews", source(), upload);
    const { headers, body, files, fields } = server.only;
    expect(files.map(({ bytes: _, ...rest }) => rest)).toEqual([
      { part: "file", filename: "train.jsonl", mimeType: "application/octet-stream", sha256: sha256(bytes) },
    ]);
    expect(fields).toEqual({});
    expect(headers["content-length"]).toBe(String(body.byteLength));
    expect(headers["transfer-encoding"]).toBeUndefined();
  });

  test.each(sources)("%s arrives whole without a size", async (_what, source, bytes) => {
    const upload = { name: "train.jsonl", contentType: "application/jsonl" };
    await connect(server.url, options).datasets.upload("reviews", source(), upload);
    const { headers, body, files } = server.only;
    expect(files).toMatchObject([{ sha256: sha256(bytes), mimeType: "application/jsonl" }]);
    if (transport === "node:http") {
      expect(headers["transfer-encoding"]).toBe("chunked");
      expect(headers["content-length"]).toBeUndefined();
    } else {
      // Through fetch a stream is read whole first: then its length is known.
      expect(headers["content-length"]).toBe(String(body.byteLength));
    }
  });

  test.each(sources)(
    "%s has a progress that never goes back and ends at the total",
    async (_what, source, bytes) => {
      for (const size of [bytes.byteLength, undefined]) {
        const seen: UploadProgress[] = [];
        const onProgress = (progress: UploadProgress) => seen.push(progress);
        const upload = { name: "train.jsonl", size, onProgress };
        await connect(server.url, options).datasets.upload("reviews", source(), upload);
        const sent = seen.map(({ sentBytes }) => sentBytes);
        expect(sent).toEqual([...sent].sort((a, b) => a - b));
        expect(seen.at(-1)).toEqual({ sentBytes: bytes.byteLength, totalBytes: bytes.byteLength });
        expect(seen.slice(0, -1).every(({ totalBytes }) => totalBytes === size)).toBe(true);
      }
    },
  );

  test.each(sources)("%s without a name is refused", async (_what, source) => {
    const error = await failureOf(() => connect(server.url, options).datasets.upload("reviews", source()));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no", codeSource: "client" });
    expect(error.message).toContain("name");
    expect(server.requests).toEqual([]);
  });

  test("the same content may be sent as often as there are streams of it", async () => {
    const client = connect(server.url, options);
    const uploads = Array.from({ length: 5 }, () =>
      client.datasets.upload("reviews", createReadStream(file), { name: "train.jsonl" }),
    );
    await Promise.all(uploads);
    expect(server.requests.map(({ files }) => files[0]?.sha256)).toEqual(Array(5).fill(sha256(content)));
  });

  test.each([
    ["-1", -1, "OUT_OF_RANGE"],
    ["a fraction", 1.5, "INVALID_ARGUMENT"],
    ["a string", "5", "INVALID_ARGUMENT"],
    ["NaN", Number.NaN, "INVALID_ARGUMENT"],
    ["more than one request takes", 150 * 1024 * 1024 + 1, "OUT_OF_RANGE"],
  ])("a size that is %s is refused before the stream is read", async (_what, size, code) => {
    let read = false;
    const stream = Readable.from(
      (async function* () {
        read = true;
        yield content;
      })(),
    );
    const upload = { name: "train.jsonl", size: size as number };
    const error = await failureOf(() =>
      connect(server.url, options).datasets.upload("reviews", stream, upload),
    );
    expect(error).toMatchObject({ code, executed: "no", codeSource: "client" });
    expect(read).toBe(false);
    expect(server.connections).toBe(0);
  });

  test.each([
    ["a path", () => file],
    ["a Blob", () => new Blob([content])],
    ["a Uint8Array", () => content],
  ])("a size that is not %s's own is refused, and its own is taken", async (_what, source) => {
    const client = connect(server.url, options);
    const upload = (size: number) =>
      client.datasets.upload("reviews", source(), { name: "train.jsonl", size });
    const error = await failureOf(() => upload(content.byteLength - 1));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
    expect(server.requests).toEqual([]);
    await upload(content.byteLength);
    expect(server.only.files).toMatchObject([{ sha256: sha256(content) }]);
  });
});
