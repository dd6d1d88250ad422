import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import type { Client, ClientOptions, UploadFile, UploadOptions } from "../../src/index.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { respond, useCountingServer } from "../support/countingServer.js";
import { useTemporaryFile } from "../support/temporaryFile.js";
import { expectNothingUnhandled } from "../support/unhandled.js";

const server = useCountingServer();
expectNothingUnhandled();
const content = Buffer.alloc(300_000, "x");
const file = useTemporaryFile(content);

async function* generated(): AsyncGenerator<Uint8Array> {
  yield content.subarray(0, 100_000);
  yield content.subarray(100_000);
}

const webStream = () => new Blob([content]).stream();
const transfer = (bytes: Uint8Array<ArrayBuffer>) =>
  void structuredClone(bytes.buffer, { transfer: [bytes.buffer] });

type Make = () => UploadFile | Promise<UploadFile>;
const singleUse: readonly (readonly [what: string, make: () => UploadFile])[] = [
  ["an async generator", generated],
  ["a Readable", () => Readable.from(generated())],
  ["a file's Readable", () => createReadStream(file)],
  ["a web ReadableStream", webStream],
  ["the iterator of a web ReadableStream", () => webStream().values()],
];

/** A source of which something was taken before the client got it. */
const after = <T>(source: T, act: (source: T) => unknown) => Promise.resolve(act(source)).then(() => source);
const readWhole = async (chunks: AsyncIterable<unknown>) => {
  for await (const _ of chunks);
};
const used: readonly (readonly [what: string, make: Make])[] = [
  ["a Readable that was read whole", () => after(Readable.from(generated()), buffer)],
  ["a Readable that was destroyed", () => after(Readable.from(generated()), (stream) => stream.destroy())],
  ["a web ReadableStream that was read whole", () => after(webStream(), readWhole)],
  ["a web ReadableStream that a reader has locked", () => after(webStream(), (stream) => stream.getReader())],
  ["a Uint8Array whose buffer was transferred", () => after(new Uint8Array(content), transfer)],
];

/** Sources without a byte, of which nobody can tell whether they had any. */
const empty: readonly (readonly [what: string, make: Make])[] = [
  ["a Readable", () => Readable.from([])],
  ["a Readable of empty chunks", () => Readable.from([Buffer.of(), Buffer.of()])],
  ["a web ReadableStream", () => new Blob([]).stream()],
  ["an async iterable", () => ({ async *[Symbol.asyncIterator]() {} })],
  ["an async generator that was consumed elsewhere", () => after(generated(), readWhole)],
];

/** Counts the bodies that came whole; `first` decides what the first request gets. */
function countWhole(first = respond): { whole: number } {
  const seen = { whole: 0 };
  let requests = 0;
  server.listen((request, response) => {
    request.on("end", () => {
      seen.whole += 1;
    });
    if (requests++ === 0) first(request, response);
    else respond(request, response);
  });
  return seen;
}

describe.each(transports)("over $name", ({ options, name: transport }) => {
  const connected = (more?: ClientOptions): Client => connect(server.url, { ...options, ...more });
  const upload = (source: UploadFile, call?: UploadOptions, client: Client = connected()) =>
    client.datasets.upload("reviews", source, { name: "train.jsonl", ...call });

  test.each(used)("%s is refused before anything is sent", async (_what, make) => {
    const source = await make();
    const error = await failureOf(() => upload(source));
    expect(error).toMatchObject({
      ...{ code: "FAILED_PRECONDITION", executed: "no", codeSource: "client", attempts: [] },
      operation: "uploadDatasetFile",
    });
    expect(error.hint).toContain("path");
    expect(server.connections).toBe(0);
  });

  test.each(singleUse)("%s is not sent a second time after a success", async (_what, make) => {
    const seen = countWhole();
    const source = make();
    await upload(source);
    const error = await failureOf(() => upload(source));
    expect(error).toMatchObject({ code: "FAILED_PRECONDITION", executed: "no", attempts: [] });
    expect(seen.whole).toBe(1);
  });

  test("an iterable that gives the same iterator again is not sent from where it stopped", async () => {
    const seen = countWhole();
    const iterator = generated();
    const source = { [Symbol.asyncIterator]: () => ({ next: () => iterator.next() }) };
    await upload(source);
    expect(await failureOf(() => upload(source))).toMatchObject({ code: "FAILED_PRECONDITION" });
    expect(seen.whole).toBe(1);
  });

  test("an iterable that makes a new iterator each time is sent as often as one likes", async () => {
    const seen = countWhole();
    const source = { [Symbol.asyncIterator]: generated };
    await upload(source);
    await upload(source);
    expect(seen.whole).toBe(2);
  });

  describe.each(empty)("%s that ends without a byte", (_what, make) => {
    test.each([undefined, 0])("and has the size %s never arrives whole", async (size) => {
      const seen = countWhole();
      const source = await make();
      const error = await failureOf(() => upload(source, { size }));
      expect(error).toMatchObject({ code: "FAILED_PRECONDITION", codeSource: "client" });
      // Through fetch a stream is read whole before anything is sent.
      expect(error.executed).toBe(transport === "fetch" ? "no" : "unknown");
      expect(error.message).toContain("empty Uint8Array");
      await server.close();
      expect(seen.whole).toBe(0);
    });
  });

  test("bytes whose buffer is transferred before a second try are not sent again, empty", async () => {
    const bytes = new Uint8Array(content);
    const seen = countWhole((request, response) => {
      request
        .on("end", () => {
          transfer(bytes);
          response.writeHead(503, { "retry-after-ms": "1" }).end('{"code":"UNAVAILABLE"}');
        })
        .resume();
    });
    const client = connected({ maxRetries: 2 });
    const error = await failureOf(() => upload(bytes, undefined, client));
    expect(error).toMatchObject({ code: "FAILED_PRECONDITION", codeSource: "client", executed: "unknown" });
    expect(error.attempts).toMatchObject([{ code: "UNAVAILABLE", httpStatus: 503 }]);
    expect(seen.whole).toBe(1);
  });

  test("a stream that is read elsewhere while the key is asked for is refused", async () => {
    const stream = Readable.from(generated());
    const apiKey = async () => {
      await buffer(stream);
      return "key";
    };
    const error = await failureOf(() => upload(stream, undefined, connected({ apiKey })));
    expect(error).toMatchObject({ code: "FAILED_PRECONDITION", executed: "no" });
    expect(server.connections).toBe(0);
  });
});
