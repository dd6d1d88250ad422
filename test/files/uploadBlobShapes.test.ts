import { Readable } from "node:stream";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import type { BlobLike, UploadFile } from "../../src/index.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { sha256, useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
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

const shaped = (stream: () => unknown): BlobLike => ({
  size: content.byteLength,
  type: "",
  stream,
  slice: () => shaped(stream),
});

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

  test("one that has fewer bytes than it says is not sent to its end", async () => {
    const short = { ...shaped(() => new Blob([content.subarray(1)]).stream()) };
    const error = await failureOf(() =>
      connect(server.url, options).datasets.upload("reviews", short, { name: "n" }),
    );
    expect(error).toMatchObject({ code: "FAILED_PRECONDITION" });
    expect(error.executed).not.toBe("yes");
  });

  test("bytes of another realm whose buffer was transferred are refused", async () => {
    const bytes = foreign(content);
    structuredClone(bytes.buffer, { transfer: [bytes.buffer as ArrayBuffer] });
    const upload = { name: "train.jsonl" };
    const error = await failureOf(() =>
      connect(server.url, options).datasets.upload("reviews", bytes, upload),
    );
    expect(error).toMatchObject({ code: "FAILED_PRECONDITION", executed: "no" });
    expect(server.requests).toEqual([]);
  });

  test.each<[what: string, file: unknown]>([
    ["an ArrayBuffer", new ArrayBuffer(8)],
    ["a Float32Array", new Float32Array(2)],
    ["a Float32Array of another realm", runInNewContext("new Float32Array(2)")],
    ["an object with a size alone", { size: 1 }],
    ["an object whose size is no number of bytes", { ...shaped(() => undefined), size: "1" }],
  ])("%s is refused, and what can be passed is said", async (_what, file) => {
    const upload = { name: "train.jsonl" };
    const error = await failureOf(() =>
      connect(server.url, options).datasets.upload("reviews", file as UploadFile, upload),
    );
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
    expect(error.message).toContain("a Blob, a File, a Uint8Array or a stream of bytes");
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
