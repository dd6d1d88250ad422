import { randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { PassThrough, Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import type { StatusCode, UploadFile, UploadOptions, UploadProgress } from "../../src/index.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { useCountingServer } from "../support/countingServer.js";
import { sha256, useRecordingServer } from "../support/recordingServer.js";
import { useTemporaryFile } from "../support/temporaryFile.js";
import { until } from "../support/turns.js";

describe("a stream", () => {
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
    describe.each(sources)("%s", (_what, source, bytes) => {
      test.each([
        ["with its length when size is given", bytes.byteLength],
        ["without a size", undefined],
      ])("arrives whole %s, and its progress never goes back and ends at the total", async (_how, size) => {
        const seen: UploadProgress[] = [];
        const onProgress = (progress: UploadProgress) => seen.push(progress);
        const type = size === undefined ? {} : { contentType: "application/jsonl" };
        const upload = { name: "data/train.jsonl", size, onProgress, ...type };
        await connect(server.url, options).datasets.upload("reviews", source(), upload);
        const { headers, body, files, fields } = server.only;
        const mimeType = type.contentType ?? "application/octet-stream";
        expect(files.map(({ bytes: _, ...rest }) => rest)).toEqual([
          { part: "file", filename: "train.jsonl", mimeType, sha256: sha256(bytes) },
        ]);
        expect(fields).toEqual({});
        // Through fetch a stream is read whole first: then its length is known.
        const chunked = size === undefined && transport === "node:http";
        expect(headers["content-length"]).toBe(chunked ? undefined : String(body.byteLength));
        expect(headers["transfer-encoding"]).toBe(chunked ? "chunked" : undefined);
        const sent = seen.map(({ sentBytes }) => sentBytes);
        expect(sent).toEqual([...sent].sort((a, b) => a - b));
        expect(seen.at(-1)).toEqual({ sentBytes: bytes.byteLength, totalBytes: bytes.byteLength });
        expect(seen.slice(0, -1).every(({ totalBytes }) => totalBytes === size)).toBe(true);
      });
    });

    test.each([
      ["-1", -1, "OUT_OF_RANGE"],
      ["a fraction", 1.5, "INVALID_ARGUMENT"],
      ["a string", "5", "INVALID_ARGUMENT"],
      ["NaN", Number.NaN, "INVALID_ARGUMENT"],
      ["more than one request takes", 150 * 1024 * 1024 + 1, "OUT_OF_RANGE"],
    ])("a size that is %s is refused before the stream is read", async (_what, size, code) => {
      const stream = Readable.from(parts());
      const upload = { name: "train.jsonl", size: size as number };
      const error = await failureOf(() =>
        connect(server.url, options).datasets.upload("reviews", stream, upload),
      );
      expect(error).toMatchObject({ code, executed: "no", codeSource: "client" });
      expect([stream.readableDidRead, server.connections]).toEqual([false, 0]);
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
});

test("a fetch function that responds without having asked for the file is taken at its word", async () => {
  const bytes = new Uint8Array(5);
  const fetch = async () => Response.json({ id: "file-1", bytes: 5 });
  const seen: UploadProgress[] = [];
  const onProgress = (progress: UploadProgress) => seen.push(progress);
  const client = connect("https://service.test", { fetch });
  await client.datasets.upload("reviews", bytes, { name: "a", verifyBytes: true, onProgress });
  expect(seen).toEqual([{ sentBytes: 5, totalBytes: 5 }]);
});

describe("the release of a stream", () => {
  const server = useCountingServer();
  const clock = useTestClock();
  const chunk = new Uint8Array(256 * 1024);

  /** A stream that gives so many chunks and then ends, or nothing more for ever. */
  interface Source {
    left: number;
    readonly ends: boolean;
    /** Whether it was let go of. */
    isReleased: boolean;
  }

  const sources: readonly (readonly [what: string, make: (source: Source) => UploadFile])[] = [
    [
      "a Readable",
      (source) =>
        new Readable({
          read() {
            if (source.left-- > 0) this.push(chunk);
            else if (source.ends) this.push(null);
          },
          destroy(error, done) {
            source.isReleased = true;
            done(error);
          },
        }),
    ],
    [
      "a web ReadableStream",
      (source) => {
        const cancel = (): void => {
          source.isReleased = true;
        };
        const pull = async (controller: ReadableStreamDefaultController): Promise<void> => {
          if (source.left-- > 0) return controller.enqueue(chunk);
          if (!source.ends) await new Promise(() => {});
          controller.close();
          cancel();
        };
        return new ReadableStream({ pull, cancel });
      },
    ],
  ];

  describe.each(transports)("over $name", ({ options, name }) => {
    // Through fetch a stream is read whole before anything is sent.
    const sends = name === "node:http";

    describe.each(sources)("an upload lets go of %s", (_what, make) => {
      const upload = (left: number, ends: boolean, call: UploadOptions = {}) => {
        const source = { left, ends, isReleased: false };
        const { datasets } = connect(server.url, options);
        const running = datasets.upload("reviews", make(source), { name: "x", ...call });
        return { source, running, released: () => until(() => source.isReleased) };
      };

      test("that was sent", async () => {
        const { running, released } = upload(3, true);
        await running;
        await released();
      });

      test.each<[how: string, code: StatusCode]>([
        ["was aborted", "CANCELLED"],
        ["met its deadline", "DEADLINE_EXCEEDED"],
      ])("that gives no more when the call %s", async (_how, code) => {
        server.listen((request) => void request.on("error", () => {}).resume());
        const controller = new AbortController();
        const isAborted = code === "CANCELLED";
        const call = isAborted ? { signal: controller.signal, timeoutMs: 60_000 } : { timeoutMs: 100 };
        const { source, running, released } = upload(3, false, call);
        const error = failureOf(() => running);
        await until(() => source.left < 0 && server.used.length === (sends ? 1 : 0));
        if (isAborted) controller.abort();
        else clock.pass(100);
        expect(await error).toMatchObject({ code, executed: sends ? "unknown" : "no" });
        expect(server.connections).toBe(sends ? 1 : 0);
        await released();
      });

      // Over fetch no server can end it half-way.
      test.runIf(sends)("of which more would come, when the server has refused it", async () => {
        server.listen((request, response) => {
          request.on("error", () => {}).resume();
          response.writeHead(413).end();
        });
        const { running, released } = upload(Number.POSITIVE_INFINITY, true);
        expect(await failureOf(() => running)).toMatchObject({ code: "INVALID_ARGUMENT", httpStatus: 413 });
        await released();
      });

      test("of which there is too much", async () => {
        server.listen((request) => void request.on("error", () => {}).resume());
        const { running, released } = upload(Number.POSITIVE_INFINITY, true, { size: 9 });
        expect(await failureOf(() => running)).toMatchObject({ code: "FAILED_PRECONDITION" });
        await released();
      });
    });
  });
});

test("an upload over fetch that was aborted stops reading an endless stream", async () => {
  let read = 0;
  let returned = false;
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        yield new Uint8Array(1000);
        read += 1;
        await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      returned = true;
    }
  }
  const controller = new AbortController();
  const client = connect("http://127.0.0.1:1", { fetch: globalThis.fetch });
  const call = failureOf(() =>
    client.datasets.upload("reviews", endless(), { name: "a", signal: controller.signal }),
  );
  await until(() => read > 3);
  controller.abort();
  expect((await call).code).toBe("CANCELLED");
  const readAtEnd = read;
  await until(() => returned);
  expect(read - readAtEnd).toBeLessThan(3);
});
