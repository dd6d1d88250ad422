import { statSync, utimesSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { connect, failureOf, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { useTemporaryFile } from "../support/temporaryFile.js";

const server = useRecordingServer();
const size = 4 * 1024 * 1024;
const file = useTemporaryFile(Buffer.alloc(size, "a"));

test.each(transports)("over $name the option name renames a path", async ({ options }) => {
  await connect(server.url, options).datasets.upload("reviews", file, { name: "other.jsonl" });
  expect(server.only.files.map(({ filename }) => filename)).toEqual(["other.jsonl"]);
});

test.each(transports)(
  "over $name a file rewritten in its old length during the upload is not stored",
  async ({ options }) => {
    const onProgress = () => {
      // A file system may date two writes alike.
      const later = statSync(file).mtimeMs / 1000 + 2;
      writeFileSync(file, Buffer.alloc(size, "b"));
      utimesSync(file, later, later);
    };
    const error = await failureOf(() =>
      connect(server.url, options).datasets.upload("reviews", file, { onProgress }),
    );
    expect(error).toMatchObject({ code: "FAILED_PRECONDITION", codeSource: "client" });
    expect(error.text).toContain("was written to");
    expect(server.requests).toHaveLength(0);
  },
);
