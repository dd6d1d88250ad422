import { createReadStream } from "node:fs";
import { describe, expect, test } from "vitest";
import type { UploadFile } from "../../src/index.js";
// Loaded already, so that the request has begun when the stream breaks.
import "../../src/wrappers/uploadFile.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { useCountingServer } from "../support/countingServer.js";
import { expectNothingUnhandled } from "../support/unhandled.js";

const server = useCountingServer();
expectNothingUnhandled();

describe.each(transports)("over $name", ({ options, name }) => {
  const executed = name === "node:http" ? "unknown" : "no";
  const upload = (file: UploadFile) =>
    failureOf(() => connect(server.url, options).datasets.upload("reviews", file, { name: "train.jsonl" }));

  test("a Readable that broke before it is read is FAILED_PRECONDITION with the cause", async () => {
    const stream = createReadStream("missing/train.jsonl");
    const error = await upload(stream);
    expect(error).toMatchObject({ code: "FAILED_PRECONDITION", executed });
    expect(error.cause).toMatchObject({ code: "ENOENT" });
  });

  test("a Readable that breaks while the key is asked for ends no process", async () => {
    const stream = createReadStream("missing/train.jsonl");
    const apiKey = async () => {
      if (!stream.closed) await new Promise<void>((resolve) => stream.once("close", resolve));
      return "key";
    };
    const client = connect(server.url, { ...options, apiKey });
    const error = await failureOf(() => client.datasets.upload("reviews", stream, { name: "train.jsonl" }));
    expect(error).toMatchObject({ code: "FAILED_PRECONDITION", executed: "no" });
    expect(error.cause).toMatchObject({ code: "ENOENT" });
    expect(server.connections).toBe(0);
  });

  test.each<[what: string, datasetId: string, name: string | undefined]>([
    ["it has no name", "reviews", undefined],
    ["its dataset has no id", "", "train.jsonl"],
  ])("a Readable that breaks after it was refused because %s ends no process", async (_why, id, fileName) => {
    const stream = createReadStream("missing/train.jsonl");
    const closed = new Promise<void>((resolve) => stream.once("close", resolve));
    const call = fileName === undefined ? {} : { name: fileName };
    const error = await failureOf(() => connect(server.url, options).datasets.upload(id, stream, call));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no" });
    await closed;
  });
});
