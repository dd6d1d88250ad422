import { createReadStream } from "node:fs";
import { describe, expect, test } from "vitest";
import type { UploadFile } from "../../src/index.js";
import { connect, failureOf, operationCalls, transports } from "../support/clients.js";
import { useCountingServer } from "../support/countingServer.js";
import { faults } from "../support/faults/faults.js";
import { testFaults } from "../support/faults/runFault.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { useTemporaryFile } from "../support/temporaryFile.js";

// Over one transport each; test/all/faults.test.ts has both, and what some systems cannot do.
testFaults(
  faults.filter(({ name }) => !name.includes("backlog")),
  { sampled: true },
);

const server = useRecordingServer();
const elsewhere = useRecordingServer();
const hasty = useCountingServer();
const bytes = new Uint8Array(3 * 1024 * 1024);
const file = useTemporaryFile(bytes);

describe.each(transports)("a redirect over $name", ({ options }) => {
  const status = { codeSource: "status", httpStatus: 307 };
  const redirected = { code: "FAILED_PRECONDITION", executed: "unknown", inferred: true, ...status };

  test.each(operationCalls)(
    "of $operation is not followed, whatever code its body names",
    async ({ call }) => {
      for (const location of [`${elsewhere.url}/v1/stolen`, "/v2/elsewhere"]) {
        server.reset();
        server.reply({ status: 307, json: { code: "UNAVAILABLE" }, headers: { location } });
        const error = await failureOf(() => call(connect(server.url, options)));
        expect(error).toMatchObject(redirected);
        expect(error.hint).toContain("baseUrl");
        expect([server.requests.length, elsewhere.connections]).toEqual([1, 0]);
      }
    },
  );

  test.each<[what: string, source: () => UploadFile]>([
    ["a path", () => file],
    ["a Readable", () => createReadStream(file)],
    ["a Blob", () => new Blob([bytes])],
  ])("that comes before %s was sent is not followed", async (_what, source) => {
    hasty.listen((request, response) => {
      response.writeHead(307, { location: `${elsewhere.url}/v1/stolen` }).end();
      request.on("error", () => {}).resume();
    });
    const client = connect(hasty.url, options);
    const error = await failureOf(() => client.datasets.upload("reviews", source(), { name: "train.jsonl" }));
    expect(error).toMatchObject(redirected);
    expect([hasty.used.length, elsewhere.connections]).toEqual([1, 0]);
  });
});
