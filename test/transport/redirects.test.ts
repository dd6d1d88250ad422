import { createReadStream } from "node:fs";
import { describe, expect, test } from "vitest";
import type { UploadFile } from "../../src/index.js";
import { connect, failureOf, operationCalls, transports } from "../support/clients.js";
import { useCountingServer } from "../support/countingServer.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { useTemporaryFile } from "../support/temporaryFile.js";

const server = useRecordingServer();
const elsewhere = useRecordingServer();
const hasty = useCountingServer();
const bytes = new Uint8Array(3 * 1024 * 1024);
const file = useTemporaryFile(bytes);

describe.each(transports)("over $name", ({ options }) => {
  const redirected = {
    code: "FAILED_PRECONDITION",
    executed: "unknown",
    codeSource: "status",
    inferred: true,
  };

  test.each(operationCalls)(
    "a redirect of $operation is not followed: key and file go nowhere else",
    async ({ call }) => {
      for (const location of [`${elsewhere.url}/v1/stolen`, "/v2/elsewhere"]) {
        server.reset();
        server.reply({ status: 308, text: "", headers: { location } });
        const error = await failureOf(() => call(connect(server.url, options)));
        expect(error).toMatchObject({ ...redirected, httpStatus: 308 });
        expect(error.hint).toContain("baseUrl");
        expect([server.requests.length, elsewhere.connections]).toEqual([1, 0]);
      }
    },
  );

  test("a redirect is one, whatever code its body names", async () => {
    const json = { code: "UNAVAILABLE", message: "Elsewhere." };
    server.reply({ status: 307, json, headers: { location: `${server.url}/elsewhere` } });
    const error = await failureOf(() => connect(server.url, options).deployments.scale("prod", 1));
    expect(error).toMatchObject({ ...redirected, httpStatus: 307 });
  });

  test.each<[what: string, source: () => UploadFile]>([
    ["a path", () => file],
    ["a Readable", () => createReadStream(file)],
    ["a Blob", () => new Blob([bytes])],
  ])("a redirect that comes before %s was sent is not followed", async (_what, source) => {
    hasty.listen((request, response) => {
      response.writeHead(307, { location: `${elsewhere.url}/v1/stolen` }).end();
      request.on("error", () => {}).resume();
    });
    const client = connect(hasty.url, options);
    const error = await failureOf(() => client.datasets.upload("reviews", source(), { name: "train.jsonl" }));
    expect(error).toMatchObject({ ...redirected, httpStatus: 307 });
    expect([hasty.used.length, elsewhere.connections]).toEqual([1, 0]);
  });
});
