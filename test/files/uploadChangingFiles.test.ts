import { appendFileSync, truncateSync } from "node:fs";
import { truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { goodText } from "../support/answers.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { useCountingServer } from "../support/countingServer.js";
import { temporaryFolder } from "../support/project.js";

const server = useCountingServer();
// More than what the network's buffers hold: the change comes while most of it has not been read.
const size = 24 * 1024 * 1024;
let file: string;
let remove: () => Promise<void>;

beforeAll(async () => {
  const { folder, remove: removeFolder } = await temporaryFolder();
  remove = removeFolder;
  file = path.join(folder, "train.jsonl");
});
beforeEach(async () => {
  await writeFile(file, "");
  await truncate(file, size);
});
afterAll(() => remove());

const changes: readonly (readonly [how: string, change: () => void])[] = [
  ["grows by a byte", () => appendFileSync(file, "x")],
  ["grows by a megabyte", () => appendFileSync(file, Buffer.alloc(1024 * 1024))],
  ["loses a byte", () => truncateSync(file, size - 1)],
  ["loses its second half", () => truncateSync(file, size / 2)],
  ["becomes empty", () => truncateSync(file, 0)],
];

/** Runs `change` once the first bytes came; resolves to whether the whole body came in the end. */
function changeOnFirstBytes(change: () => void): Promise<boolean> {
  return new Promise((resolve) => {
    server.listen((request, response) => {
      request.once("data", change);
      request
        .on("end", () => response.end(goodText))
        .on("error", () => {})
        .on("close", () => resolve(request.complete))
        .resume();
    });
  });
}

describe.each(transports)("over $name", ({ options }) => {
  test.each(changes)(
    "a file that %s while it is sent is FAILED_PRECONDITION, and never arrives whole",
    async (_how, change) => {
      const complete = changeOnFirstBytes(change);
      const error = await failureOf(() => connect(server.url, options).datasets.upload("reviews", file));
      expect(error).toMatchObject({ code: "FAILED_PRECONDITION", executed: "unknown", codeSource: "client" });
      expect(await complete).toBe(false);
    },
  );

  test.each(changes)(
    "a file that %s before it is sent is FAILED_PRECONDITION, and never arrives whole",
    async (_how, change) => {
      let complete = false;
      server.listen((request, response) => {
        request
          .on("end", () => {
            complete = true;
            response.end(goodText);
          })
          .on("error", () => {})
          .resume();
      });
      // The key is asked for after the file was opened and before anything is sent.
      const apiKey = async () => {
        change();
        return "key";
      };
      const client = connect(server.url, { ...options, apiKey });
      const error = await failureOf(() => client.datasets.upload("reviews", file));
      expect(error).toMatchObject({ code: "FAILED_PRECONDITION", codeSource: "client" });
      expect(error.executed).not.toBe("yes");
      // Of a file on this machine, not of something that the service holds.
      expect(error.hint).not.toContain("Bring the resource");
      if (error.executed === "no")
        expect(error.hint).toMatch(/^Call again with a file that can be read and does not change/);
      expect(complete).toBe(false);
    },
  );

  test("a file as long as before is sent again", async () => {
    void changeOnFirstBytes(() => appendFileSync(file, "x"));
    const client = connect(server.url, options);
    await failureOf(() => client.datasets.upload("reviews", file));
    const complete = changeOnFirstBytes(() => {});
    await client.datasets.upload("reviews", file);
    expect(await complete).toBe(true);
  });
});

test("over node:http a file that changes in onProgress is FAILED_PRECONDITION", async () => {
  for (const [, change] of changes) {
    await truncate(file, size);
    let changed = false;
    const onProgress = () => {
      if (!changed) change();
      changed = true;
    };
    const client = connect(server.url);
    const error = await failureOf(() => client.datasets.upload("reviews", file, { onProgress }));
    expect(error).toMatchObject({ code: "FAILED_PRECONDITION", executed: "unknown" });
    expect(error.message).toContain(String(size));
  }
});
