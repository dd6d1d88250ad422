import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type OperationRow, operations } from "../../src/generated/contract.js";
import type { UploadFile, UploadOptions } from "../../src/index.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { TestClock } from "../support/clock.js";
import { temporaryFolder } from "../support/project.js";
import { sha256, useRecordingServer } from "../support/recordingServer.js";
import { silence } from "../support/responses.js";
import { useTemporaryFile } from "../support/temporaryFile.js";

const server = useRecordingServer();

describe("an upload", () => {
  // Longer than one read, and with bytes that are no text, line breaks and something like a boundary.
  const content = Buffer.concat([
    randomBytes(1024 * 1024 + 7),
    Buffer.from("\r\n--tunerank\r\n\0"),
    randomBytes(300_000),
  ]);
  let folder: string;
  let remove: () => Promise<void>;

  beforeAll(async () => {
    ({ folder, remove } = await temporaryFolder());
    await writeFile(path.join(folder, "train.jsonl"), content);
    await writeFile(path.join(folder, "empty.jsonl"), "");
    await mkdir(path.join(folder, "a folder"));
    await writeFile(path.join(folder, "a folder", "données №1.jsonl"), content);
  });
  afterAll(() => remove());

  const named = (name: string): UploadOptions => ({ name });
  const within = (): Uint8Array => {
    const larger = new Uint8Array(content.byteLength + 100).fill(7);
    larger.set(content, 50);
    return larger.subarray(50, 50 + content.byteLength);
  };
  const accented = (): URL => pathToFileURL(path.join(folder, "a folder", "données №1.jsonl"));
  const blob = (type = ""): Blob => new Blob([content], { type });
  const fileOf = (name: string, type = ""): File => new File([content], name, { type });
  const ndjson: UploadOptions = { contentType: "application/x-ndjson" };

  type Source = [
    what: string,
    file: () => UploadFile,
    options: UploadOptions | undefined,
    filename: string,
    mimeType?: string,
  ];
  const sources: Source[] = [
    ["a path", () => path.join(folder, "train.jsonl"), undefined, "train.jsonl"],
    ["a file URL", accented, undefined, "données №1.jsonl"],
    ["a Blob with a name", blob, named("b.jsonl"), "b.jsonl"],
    ["a Blob with a type", () => blob("application/jsonl"), named("b"), "b", "application/jsonl"],
    ["a File", () => fileOf("f.jsonl"), undefined, "f.jsonl"],
    ["a File with a type", () => fileOf("f.csv", "text/csv"), undefined, "f.csv", "text/csv"],
    ["a File with another name", () => fileOf("f"), named("g"), "g"],
    ["a File with another content type", () => fileOf("f", "text/csv"), ndjson, "f", "application/x-ndjson"],
    ["a Uint8Array", () => new Uint8Array(content), named("u.bin"), "u.bin"],
    ["a view into a larger buffer", within, named("u.bin"), "u.bin"],
    ["a Buffer", () => content, named("u.bin"), "u.bin"],
  ];

  describe.each(transports)("an upload over $name", ({ options }) => {
    test.each<Source>(sources)(
      "of %s sends exactly one part, file, with the same bytes",
      async (_what, file, call, filename, mimeType = "application/octet-stream") => {
        await connect(server.url, options).datasets.upload("reviews", file(), call);
        const { method, url, headers, body, fields, files } = server.only;
        expect([method, url]).toEqual(["POST", "/v1/accounts/acme/datasets/reviews:upload"]);
        expect(fields).toEqual({});
        expect(files.map(({ bytes, ...file }) => file)).toEqual([
          { part: "file", filename, mimeType, sha256: sha256(content) },
        ]);
        expect(headers["content-length"]).toBe(String(body.byteLength));
        expect(headers["transfer-encoding"]).toBeUndefined();
      },
    );

    test.each([
      ["path", () => path.join(folder, "empty.jsonl")],
      ["File", () => new File([], "empty.jsonl")],
      ["Uint8Array", () => new Uint8Array()],
    ])("of an empty %s is sent: the service decides", async (_what, file) => {
      await connect(server.url, options).datasets.upload("reviews", file(), { name: "empty.jsonl" });
      expect(server.only.files).toMatchObject([
        { part: "file", filename: "empty.jsonl", sha256: sha256(Buffer.of()) },
      ]);
    });
  });
});

describe("the count of its bytes", () => {
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
      const call = { name: "train.jsonl", ...more };
      return connect(server.url, options).datasets.upload("reviews", source, call);
    }

    test.each(sources)(
      "verifyBytes of %s is whether the response counts as many",
      async (_what, source, bytes) => {
        server.reply({ json: { id: "file-1", bytes } });
        expect(await upload(source(), { verifyBytes: true })).toEqual({ id: "file-1", bytes });
        expect(server.only.files[0]?.bytes.byteLength).toBe(bytes);
        for (const counted of [bytes - 1, bytes + 1, bytes + 300]) {
          const response = { id: "file-1", bytes: counted };
          server.reply({ json: response, headers: { "x-request-id": "req-7" } });
          const error = await failureOf(() => upload(source(), { verifyBytes: true }));
          expect(error).toMatchObject({
            code: "DATA_LOSS",
            executed: "yes",
            codeSource: "client",
            inferred: true,
            operation: "uploadDatasetFile",
            body: response,
            requestId: "req-7",
            httpStatus: 200,
            attempts: [{ number: 1, code: "DATA_LOSS" }],
          });
          expect(error.message).toContain(String(counted));
          expect(error.message).toContain(String(bytes));
        }
      },
    );

    test.each([
      ["is missing", { id: "file-1" }],
      ["is text", { id: "file-1", bytes: String(content.byteLength) }],
      ["is null", { id: "file-1", bytes: null }],
    ])("verifyBytes fails with DATA_LOSS when the response's bytes %s", async (_how, json) => {
      server.reply({ json });
      const error = await failureOf(() => upload(file, { verifyBytes: true }));
      expect(error).toMatchObject({ code: "DATA_LOSS", executed: "yes" });
    });

    test("verifyBytes leaves an error of the service as it is, and compares nothing where it is false", async () => {
      server.reply({ status: 404, json: { bytes: 1 } });
      const error = await failureOf(() => upload(file, { verifyBytes: true }));
      expect(error).toMatchObject({ code: "NOT_FOUND", executed: "no" });
      server.reply({ json: { id: "file-1", bytes: 1 } });
      for (const verifyBytes of [undefined, false])
        expect(await upload(file, { verifyBytes })).toEqual({ id: "file-1", bytes: 1 });
    });
  });
});

test.each(transports)(
  "over $name an id is encoded, also what RFC 3986 reserves alone",
  async ({ options }) => {
    await connect(server.url, options).deployments.scale("a!'()*b", 1);
    expect(server.only.url).toBe("/v1/accounts/acme/deployments/a%21%27%28%29%2Ab:scale");
  },
);

test.each(transports)("over $name the deadline of an upload grows with its file", async ({ options }) => {
  server.reply(silence);
  const clock = new TestClock();
  clock.install();
  const { timeoutMs, bytesPerSecond = 0 }: OperationRow = operations.uploadDatasetFile;
  const bytes = 3_000_001;
  const client = connect(server.url, options);
  const failed = failureOf(() => client.datasets.upload("reviews", new Uint8Array(bytes), { name: "a" }));
  await server.received();
  clock.pass(10 * timeoutMs);
  const { text } = await failed;
  clock.remove();
  const ms = timeoutMs + Math.ceil((bytes * 1000) / bytesPerSecond);
  expect(text).toBe(`No complete response within ${ms} ms (timeoutMs).`);
});
