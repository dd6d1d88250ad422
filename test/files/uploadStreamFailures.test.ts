import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import type { UploadFile, UploadOptions } from "../../src/index.js";
import { goodText } from "../support/answers.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { useCountingServer } from "../support/countingServer.js";
import { expectNothingUnhandled } from "../support/unhandled.js";

const server = useCountingServer();
const cause = new Error("the disk broke");
const chunk = new Uint8Array(300_000).fill(120);

expectNothingUnhandled();

const breaking: readonly (readonly [what: string, source: () => UploadFile])[] = [
  [
    "an async iterable",
    async function* () {
      yield chunk;
      yield chunk;
      throw cause;
    },
  ],
  [
    "a Readable",
    () => {
      let chunks = 2;
      return new Readable({
        read() {
          if (chunks-- > 0) this.push(chunk);
          else this.destroy(cause);
        },
      });
    },
  ],
  [
    "a web ReadableStream",
    () => {
      let chunks = 2;
      return new ReadableStream({
        pull(controller) {
          if (chunks-- > 0) controller.enqueue(chunk);
          else controller.error(cause);
        },
      });
    },
  ],
  [
    "an iterable that throws at once",
    () => ({
      [Symbol.asyncIterator]() {
        throw cause;
      },
    }),
  ],
  [
    "an iterator whose next throws",
    () => ({
      [Symbol.asyncIterator]: () => ({
        next() {
          throw cause;
        },
      }),
    }),
  ],
];

const wrong: readonly (readonly [what: string, chunk: unknown])[] = [
  ["a number", 7],
  ["an object", { text: "good" }],
  ["an ArrayBuffer", new ArrayBuffer(4)],
  ["a list of bytes", [1, 2, 3]],
  ["null", null],
  ["undefined", undefined],
  ["a Blob", new Blob(["x"])],
];

describe.each(transports)("over $name", ({ options, name }) => {
  const executed = name === "node:http" ? "unknown" : "no";
  const upload = (file: unknown, more?: UploadOptions) =>
    failureOf(() =>
      connect(server.url, options).datasets.upload("reviews", file as UploadFile, {
        name: "train.jsonl",
        ...more,
      }),
    );

  describe.each([
    ["with a size", 900_000],
    ["without a size", undefined],
  ])("%s", (_how, size) => {
    test.each(breaking.slice(0, 3))(
      "%s that breaks half-way is FAILED_PRECONDITION with the cause",
      async (_what, source) => {
        let complete: boolean | undefined;
        const ended = new Promise<void>((resolve) => {
          server.listen((request) => {
            request
              .on("error", () => {})
              .on("close", () => {
                complete = request.complete;
                resolve();
              });
            request.resume();
          });
        });
        const error = await upload(source(), { size });
        expect(error).toMatchObject({ code: "FAILED_PRECONDITION", executed, codeSource: "client" });
        expect(error.cause).toBe(cause);
        if (name === "node:http") await ended;
        expect(complete).toBe(name === "node:http" ? false : undefined);
      },
    );
  });

  test.each(breaking.slice(3))("%s is FAILED_PRECONDITION", async (_what, source) => {
    const error = await upload(source());
    expect(error).toMatchObject({ code: "FAILED_PRECONDITION", executed });
  });

  test.each(wrong)("a chunk that is %s is FAILED_PRECONDITION, and says what came", async (_what, bad) => {
    const error = await upload(
      (async function* () {
        yield chunk;
        yield bad;
      })(),
    );
    expect(error).toMatchObject({ code: "FAILED_PRECONDITION", executed, codeSource: "client" });
    expect(error.cause).toMatchObject({ name: "TypeError", message: expect.stringContaining("not bytes") });
  });

  test.each<[what: string, stream: () => UploadFile]>([
    ["a Readable", () => Readable.from([chunk])],
    ["a web ReadableStream", () => new Blob([chunk]).stream()],
  ])("%s that was sent already is not sent a second time, empty", async (_what, make) => {
    let whole = 0;
    server.listen((request, response) => {
      request
        .on("end", () => {
          whole += 1;
          response.end(goodText);
        })
        .on("error", () => {})
        .resume();
    });
    const stream = make();
    await connect(server.url, options).datasets.upload("reviews", stream, { name: "train.jsonl" });
    expect(await upload(stream)).toMatchObject({ codeSource: "client" });
    expect(whole).toBe(1);
  });
});
