import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { fileChunks } from "../../src/files/multipart.js";
import { fromStream } from "../../src/files/openFile.js";
import type { BlobLike, UploadFile } from "../../src/index.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { temporaryFolder } from "../support/project.js";
import { sha256, useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();

describe("a Blob of any shape", () => {
  const text = '{"prompt":"é"}\n'.repeat(1000);
  const content = new TextEncoder().encode(text);

  /** Bytes of another realm, as tests in Jest and programs in node:vm have them. */
  function foreign(bytes: Uint8Array): Uint8Array {
    return runInNewContext("Uint8Array.from(list)", { list: [...bytes] }) as Uint8Array;
  }

  // As the classes of formdata-node and fetch-blob: neither is the platform's.
  class PackageBlob implements BlobLike {
    readonly size = content.byteLength;
    readonly type = "application/jsonl";
    readonly name = "train.jsonl";
    stream(): ReadableStream {
      return new Blob([content]).stream();
    }
    slice(): BlobLike {
      return new PackageBlob();
    }
  }

  const shaped = (stream: () => unknown): BlobLike => {
    return { size: content.byteLength, type: "", stream, slice: () => shaped(stream) };
  };

  async function* foreignChunks(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < content.byteLength; at += 1000) yield foreign(content.subarray(at, at + 1000));
  }

  const sources: readonly (readonly [what: string, make: () => UploadFile])[] = [
    ["a Blob of a package", () => new PackageBlob()],
    ["an object of the type BlobLike", () => shaped(() => new Blob([content]).stream())],
    ["one whose stream is a Readable", () => shaped(() => Readable.from([content]))],
    ["one whose stream has chunks of another realm", () => shaped(foreignChunks)],
    ["bytes of another realm", () => foreign(content)],
    ["a stream with chunks of another realm", foreignChunks],
    ["a Readable with chunks of another realm", () => Readable.from(foreignChunks())],
  ];

  describe.each(transports)("over $name", ({ options }) => {
    test.each(sources)("%s arrives whole", async (_what, make) => {
      const client = connect(server.url, options);
      await client.datasets.upload("reviews", make(), { name: "train.jsonl" });
      expect(server.only.files[0]?.sha256).toBe(sha256(content));
    });

    test("a Blob of a package brings its name and type, and can be sent again", async () => {
      const file = new PackageBlob();
      await connect(server.url, options).datasets.upload("reviews", file);
      await connect(server.url, options).datasets.upload("reviews", file);
      expect(server.requests.map(({ files }) => [files[0]?.filename, files[0]?.mimeType])).toEqual(
        Array(2).fill(["train.jsonl", "application/jsonl"]),
      );
    });
  });

  describe("client.request", () => {
    const put = { method: "PUT", path: "/v1/x", contentType: "application/octet-stream" } as const;
    test.each<[what: string, body: unknown]>([
      ["bytes of another realm", foreign(content)],
      ["a Buffer", Buffer.from(content)],
      [
        "a Blob of a package",
        Object.assign(new PackageBlob(), {
          [Symbol.toStringTag]: "Blob",
          arrayBuffer: async () => foreign(content).buffer,
        }),
      ],
    ])("sends %s as they are", async (_what, body) => {
      await connect(server.url).request({ ...put, body });
      expect(sha256(server.only.body)).toBe(sha256(content));
    });

    test("refuses the FormData of a package: it would be sent as its name", async () => {
      const body = { [Symbol.toStringTag]: "FormData", append() {}, entries: () => [] };
      const contentType = "multipart/form-data";
      const error = await failureOf(() => connect(server.url).request({ ...put, contentType, body }));
      expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
      expect(error.message).toContain("FormData of the platform, not of a package");
      expect(server.requests).toEqual([]);
    });
  });
});

describe("the media type of a part", () => {
  /** A Blob that says of itself what the platform's own would not. */
  function blobOfType(type: unknown): File {
    return Object.defineProperty(new File(["x"], "train.jsonl"), "type", { value: type });
  }

  test.each([
    ["a header of the part", "text/plain\r\nX-Evil: 1"],
    ["a second part", 'text/plain\r\n\r\nx\r\n--b\r\nContent-Disposition: form-data; name="more"'],
    ["a line feed", "text/plain\nX-Evil: 1"],
    ["a character outside ASCII", "text/plain\u2028"],
    ["no text", 7],
  ])("a Blob whose own type holds %s is refused before anything is sent", async (_what, type) => {
    const upload = () => connect(server.url).datasets.upload("reviews", blobOfType(type));
    const error = await failureOf(upload);
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no", codeSource: "client" });
    expect(error.message).toContain("contentType");
    expect(error.message).not.toContain("Evil");
    expect(server.requests).toEqual([]);
  });

  test("contentType stands in for a Blob's own type that cannot be sent", async () => {
    const blob = blobOfType("text/plain\r\nX-Evil: 1");
    await connect(server.url).datasets.upload("reviews", blob, { contentType: "text/plain" });
    expect(server.only.files).toMatchObject([{ mimeType: "text/plain" }]);
    expect(server.only.body.includes("Evil")).toBe(false);
  });
});

describe("the name of a part", () => {
  const names: readonly (readonly [name: string, sent: string])[] = [
    ["train.jsonl", "train.jsonl"],
    ["/x/y.jsonl", "y.jsonl"],
    ["a\\b.jsonl", "b.jsonl"],
    ["C:\\data\\train.jsonl", "train.jsonl"],
    ["a\\b/c.jsonl", "c.jsonl"],
    ["a/b\\c.jsonl", "c.jsonl"],
    ["../../secrets.jsonl", "secrets.jsonl"],
    ['say "hi".jsonl', "say %22hi%22.jsonl"],
    ["50%.jsonl", "50%.jsonl"],
    ["a;b=c.jsonl", "a;b=c.jsonl"],
    [" spaces .jsonl", " spaces .jsonl"],
    ["données-検索-🔎.jsonl", "données-検索-🔎.jsonl"],
    [".hidden", ".hidden"],
  ];

  test.each(names)("a File named %j is sent as %j", async (name, sent) => {
    await connect(server.url).datasets.upload("reviews", new File(["x"], name));
    expect(server.only.files.map(({ filename }) => filename)).toEqual([sent]);
  });

  test("a path is sent with its base name alone, or with the option name", async () => {
    const { folder, remove } = await temporaryFolder();
    onTestFinished(remove);
    const inner = path.join(folder, 'data "1" for données');
    const file = path.join(inner, "train set.jsonl");
    await mkdir(inner, { recursive: true });
    await writeFile(file, "x");
    const { datasets } = connect(server.url);
    await datasets.upload("reviews", file);
    await datasets.upload("reviews", file, { name: "other.jsonl" });
    const sent = server.requests.map(({ files }) => files.map(({ filename }) => filename));
    expect(sent).toEqual([["train set.jsonl"], ["other.jsonl"]]);
    expect(server.requests.some(({ body }) => body.includes("données"))).toBe(false);
  });
});

describe("the boundary", () => {
  const prototype = Object.getPrototypeOf(crypto);
  const randomUUID = Object.getOwnPropertyDescriptor(prototype, "randomUUID");

  // As in a page on plain http, which is no secure context.
  beforeAll(() => void Reflect.deleteProperty(prototype, "randomUUID"));
  afterAll(() => void Object.defineProperty(prototype, "randomUUID", randomUUID as PropertyDescriptor));

  test("an upload needs no crypto.randomUUID, and each has a boundary of its own", async () => {
    expect("randomUUID" in crypto).toBe(false);
    const client = connect(server.url);
    for (const name of ["a.jsonl", "b.jsonl"])
      await client.datasets.upload("reviews", new Uint8Array([1]), { name });
    expect(server.requests.map(({ files }) => files[0]?.filename)).toEqual(["a.jsonl", "b.jsonl"]);
    const boundaries = server.requests.map(({ headers }) => headers["content-type"]?.split("boundary=")[1]);
    expect(new Set(boundaries).size).toBe(2);
    for (const boundary of boundaries) expect(boundary).toMatch(/^tunerank-\d{48}$/);
  });
});

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
