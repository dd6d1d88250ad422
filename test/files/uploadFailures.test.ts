// Loaded already, so that the request has begun when the stream breaks.
import "../../src/wrappers/uploadFile.js";
import { createReadStream } from "node:fs";
import { truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { runInNewContext } from "node:vm";
import { describe, expect, test, vi } from "vitest";
import type { UploadFile, UploadOptions } from "../../src/index.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { useCountingServer } from "../support/countingServer.js";
import { run } from "../support/project.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { runScript } from "../support/script.js";
import { useTemporaryFile } from "../support/temporaryFile.js";
import { until } from "../support/turns.js";
import { expectNothingUnhandled } from "../support/unhandled.js";

describe("an upload that is refused", () => {
  const server = useRecordingServer();
  const maxBytes = 150 * 1024 * 1024;
  const folder = path.dirname(useTemporaryFile(Buffer.of()));

  async function sparse(name: string, size: number): Promise<string> {
    const file = path.join(folder, name);
    await writeFile(file, "");
    await truncate(file, size);
    return file;
  }

  async function expectRefused(
    file: unknown,
    code = "INVALID_ARGUMENT",
    call?: UploadOptions,
  ): Promise<string> {
    const client = connect(server.url);
    const error = await failureOf(() => client.datasets.upload("reviews", file as UploadFile, call));
    const operation = "uploadDatasetFile";
    expect(error).toMatchObject({ code, executed: "no", codeSource: "client", operation });
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
    const client = connect(server.url, { apiKey: () => Promise.reject(new Error("no key")) });
    const error = await failureOf(() => client.datasets.upload("reviews", file));
    expect(error.code).toBe("UNAUTHENTICATED");
    expect(server.requests).toEqual([]);
  });

  test("a missing file is refused with the path and where it was looked for, and a folder is", async () => {
    const message = await expectRefused("missing/train.jsonl", "INVALID_ARGUMENT");
    expect(message).toContain("missing/train.jsonl");
    expect(message).toContain(process.cwd());
    for (const name of [folder, `${folder}/`])
      expect(await expectRefused(name, "INVALID_ARGUMENT")).toContain("is a folder");
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
    ["a promise", Promise.resolve("train.jsonl")],
    ["an http URL", new URL("https://example.com/train.jsonl")],
    ["a file URL of another machine", new URL("file://server/share/train.jsonl")],
    ["a file URL with an encoded slash", new URL("file:///data%2Ftrain.jsonl")],
    ["bytes: an ArrayBuffer", new ArrayBuffer(4)],
    ["bytes: a Float32Array", new Float32Array(2)],
    ["bytes: a Float32Array of another realm", runInNewContext("new Float32Array(2)")],
    ["bytes: an object with a size alone", { size: 1 }],
    ["bytes: a Blob whose size is no number", { size: "1", type: "", stream() {}, slice() {} }],
  ])("%s as the file is refused", async (what, file) => {
    await expectRefused(file, "INVALID_ARGUMENT");
    const message = await expectRefused(file, "INVALID_ARGUMENT", { name: "train.jsonl" });
    if (what.startsWith("bytes"))
      expect(message).toContain("a Blob, a File, a Uint8Array or a stream of bytes");
  });

  test.each<[argument: string, value: unknown]>([
    ...["jsonl", "text/plain\r\nx-evil: 1", 7, ""].map((type) => ["contentType", type] as [string, unknown]),
    ["onProgress", "log"],
  ])("a %s of %j is refused", async (argument, value) => {
    const message = await expectRefused(new File(["x"], "f"), "INVALID_ARGUMENT", { [argument]: value });
    expect(message).toContain(argument);
  });
});

test.each(["EMFILE", "ENFILE", "EIO", "ESTALE", "ENOMEM"])(
  "%s where a file is opened is a lack of this machine",
  async (code) => {
    const { openPath } = await import("../../src/files/diskFile.js");
    const fs = process.getBuiltinModule("node:fs/promises");
    const open = vi.spyOn(fs, "open").mockRejectedValue(Object.assign(new Error(code), { code }));
    const error = await failureOf(() => openPath("/x/train.jsonl", undefined)).finally(() =>
      open.mockRestore(),
    );
    expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "no" });
    expect(error.hint).toContain("this process");
  },
);

const server = useCountingServer();
const file = useTemporaryFile(new Uint8Array(40 * 1024 * 1024));

// A disk fails while the network is slow. Here the file is closed under the reader, in a process of its own.
test.runIf(process.platform === "linux")(
  "over node:http a file that cannot be read to its end is FAILED_PRECONDITION, and ends no process",
  async () => {
    server.listen((request) => {
      request
        .on("error", () => {})
        .on("data", () => {
          request.pause();
          setTimeout(() => request.resume(), 5);
        });
    });
    const script = `
      import { closeSync, readdirSync, readlinkSync } from "node:fs";
      import { createClient } from "./src/index.ts";
      const client = createClient({ baseUrl: process.env.URL, accountId: "a", maxRetries: 0 });
      let reports = 0;
      function onProgress() {
        if (++reports !== 3) return;
        for (const fd of readdirSync("/proc/self/fd")) {
          let target;
          try { target = readlinkSync("/proc/self/fd/" + fd) } catch {}
          if (target === process.env.FILE) closeSync(Number(fd));
        }
      }
      await client.datasets.upload("reviews", process.env.FILE, { onProgress }).catch((error) => {
        console.log(error.code, error.executed, error.cause?.code);
      });
    `;
    const { exitCode, stdout, stderr } = await runScript(script, { URL: server.url, FILE: file });
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 0,
      stdout: "FAILED_PRECONDITION unknown EBADF\n",
      stderr: "",
    });
  },
);

describe("a stream that fails", () => {
  const cause = new Error("the disk broke");
  const chunk = new Uint8Array(300_000).fill(120);

  expectNothingUnhandled();

  async function* halfWay(): AsyncGenerator<Uint8Array> {
    yield chunk;
    yield chunk;
    throw cause;
  }
  const breaking: readonly (readonly [what: string, source: () => UploadFile])[] = [
    ["an async iterable", halfWay],
    ["a Readable", () => Readable.from(halfWay())],
    ["a web ReadableStream", () => ReadableStream.from(halfWay())],
  ];

  const wrong: readonly (readonly [what: string, chunk: unknown])[] = [
    ["a number", 7],
    ["an object", { text: "good" }],
    ["null", null],
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
      test.each(breaking)(
        "%s that breaks half-way is FAILED_PRECONDITION with the cause",
        async (_what, source) => {
          const complete: boolean[] = [];
          server.listen((request) => {
            request.on("error", () => {}).on("close", () => complete.push(request.complete));
            request.resume();
          });
          const error = await upload(source(), { size });
          expect(error).toMatchObject({ code: "FAILED_PRECONDITION", executed, codeSource: "client" });
          expect(error.cause).toBe(cause);
          const ended = name === "node:http" ? [false] : [];
          await until(() => complete.length === ended.length);
          expect(complete).toEqual(ended);
        },
      );
    });

    test("a Readable that breaks while the key is asked for ends no process", async () => {
      const stream = createReadStream("missing/train.jsonl");
      const apiKey = async () => {
        if (!stream.closed) await new Promise<void>((resolve) => stream.once("close", resolve));
        return "key";
      };
      const client = connect(server.url, { ...options, apiKey });
      const error = await failureOf(() => client.datasets.upload("reviews", stream, { name: "train.jsonl" }));
      expect(error).toMatchObject({ code: "FAILED_PRECONDITION", executed: "no" });
      expect(error.cause).toMatchObject({ code: "ENOENT" });
      expect(server.connections).toBe(0);
    });

    test.each<[what: string, datasetId: string, name: string | undefined]>([
      ["it has no name", "reviews", undefined],
      ["its dataset has no id", "", "train.jsonl"],
    ])(
      "a Readable that breaks after it was refused because %s ends no process",
      async (_why, id, fileName) => {
        const stream = createReadStream("missing/train.jsonl");
        const closed = new Promise<void>((resolve) => stream.once("close", resolve));
        const call = fileName === undefined ? {} : { name: fileName };
        const error = await failureOf(() => connect(server.url, options).datasets.upload(id, stream, call));
        expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
        await closed;
      },
    );

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
  });
});
