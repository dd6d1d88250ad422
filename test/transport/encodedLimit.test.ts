import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { connect, failureOf } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();

test("compressed bytes that decode to nothing count, too: they end at the cap of the response", async () => {
  // Each member of gzip takes 20 bytes, and decodes to none.
  const members = Buffer.concat(Array<Buffer>(20_000).fill(gzipSync("")));
  server.reply({ headers: { "content-encoding": "gzip" }, text: members });
  const failed = await failureOf(() =>
    connect(server.url).request({ method: "GET", path: "/v1/all" }, { maxResponseBytes: 100_000 }),
  );
  expect(failed).toMatchObject({ code: "RESOURCE_EXHAUSTED", executed: "yes" });
});
