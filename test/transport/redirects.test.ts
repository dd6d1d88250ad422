import { createReadStream } from "node:fs";
import { truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { UploadFile } from "../../src/index.js";
import { connect, failureOf, operationCalls, transports } from "../support/clients.js";
import { useCountingServer } from "../support/countingServer.js";
import { temporaryFolder } from "../support/project.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
const elsewhere = useRecordingServer();

describe("a redirect", () => {
  describe.each(transports)("over $name", ({ options }) => {
    describe.each([301, 302, 303, 307, 308])("a redirect with %i", (status) => {
      test.each(operationCalls)(
        "of $operation is not followed: key and file go nowhere else",
        async ({ operation, call }) => {
          server.reply({ status, text: "", headers: { location: `${elsewhere.url}/v1/stolen` } });
          const error = await failureOf(() => call(connect(server.url, options)));
          expect(error).toMatchObject({
            code: "FAILED_PRECONDITION",
            httpStatus: status,
            executed: "unknown",
            inferred: true,
            codeSource: "status",
            operation,
          });
          expect(error.hint).toContain("baseUrl");
          expect(server.requests).toHaveLength(1);
          expect(elsewhere.requests).toEqual([]);
          expect(elsewhere.connections).toBe(0);
        },
      );
    });
  });
});

describe("an upload that is redirected", () => {
  const hasty = useCountingServer();

  const statuses = [301, 302, 303, 307, 308];
  let folder: string;
  let remove: () => Promise<void>;

  beforeAll(async () => {
    ({ folder, remove } = await temporaryFolder());
    await writeFile(path.join(folder, "train.jsonl"), "");
    await truncate(path.join(folder, "train.jsonl"), 3 * 1024 * 1024);
  });
  afterAll(() => remove());

  const files: readonly (readonly [what: string, file: () => UploadFile])[] = [
    ["a path", () => path.join(folder, "train.jsonl")],
    ["a Readable", () => createReadStream(path.join(folder, "train.jsonl"))],
    ["a Blob", () => new Blob([new Uint8Array(3 * 1024 * 1024)])],
  ];

  describe.each(transports)("over $name", ({ options }) => {
    const upload = (url: string, file: UploadFile) =>
      failureOf(() => connect(url, options).datasets.upload("reviews", file, { name: "train.jsonl" }));
    const redirected = { code: "FAILED_PRECONDITION", executed: "unknown", codeSource: "status" };

    describe.each(statuses)("a redirect of an upload with %i", (httpStatus) => {
      test.each(files)("of %s is not followed", async (_what, file) => {
        server.reply({ status: httpStatus, text: "", headers: { location: `${elsewhere.url}/v1/stolen` } });
        expect(await upload(server.url, file())).toMatchObject({ ...redirected, httpStatus });
        expect(server.requests).toHaveLength(1);
        expect(elsewhere.connections).toBe(0);
      });

      test.each(files)(
        "of %s is not followed when it comes before the file was sent",
        async (_what, file) => {
          hasty.listen((request, response) => {
            response.writeHead(httpStatus, { location: `${elsewhere.url}/v1/stolen` }).end();
            request.on("error", () => {}).resume();
          });
          expect(await upload(hasty.url, file())).toMatchObject({ ...redirected, httpStatus });
          expect(hasty.used).toHaveLength(1);
          expect(elsewhere.connections).toBe(0);
        },
      );
    });

    test.each(operationCalls)(
      "a redirect of $operation on the same server is not followed",
      async ({ call }) => {
        server.reply({ status: 308, text: "", headers: { location: "/v2/elsewhere" } });
        const error = await failureOf(() => call(connect(server.url, options)));
        expect(error).toMatchObject({ code: "FAILED_PRECONDITION", httpStatus: 308, executed: "unknown" });
        expect(server.requests).toHaveLength(1);
      },
    );
  });
});
