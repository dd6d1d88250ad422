import { randomBytes } from "node:crypto";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import type { UploadProgress } from "../../src/index.js";
import { connect, transports } from "../support/clients.js";
import { sha256, useRecordingServer } from "../support/recordingServer.js";
import { useTemporaryFile } from "../support/temporaryFile.js";

const server = useRecordingServer();
const content = randomBytes(20 * 1024 * 1024 + 11);
const file = useTemporaryFile(content);

describe.each(transports)("over $name", ({ options }) => {
  test("a file of 20 MB arrives whole, from a path and from a file URL", async () => {
    for (const source of [file, pathToFileURL(file)]) {
      server.reset();
      const seen: UploadProgress[] = [];
      await connect(server.url, options).datasets.upload("reviews", source, {
        onProgress: (progress) => seen.push(progress),
      });
      const { files, headers, body } = server.only;
      expect(files.map((one) => one.sha256)).toEqual([sha256(content)]);
      expect(headers["content-length"]).toBe(String(body.byteLength));
      const total = content.byteLength;
      expect(seen.at(-1)).toEqual({ sentBytes: total, totalBytes: total });
      expect(seen.length).toBeGreaterThan(10);
    }
  });

  test("several large files at once do not mix", async () => {
    const client = connect(server.url, options);
    await Promise.all([1, 2, 3].map((id) => client.datasets.upload(`d${id}`, file)));
    expect(server.requests.map(({ files }) => files[0]?.sha256)).toEqual(Array(3).fill(sha256(content)));
  });
});
