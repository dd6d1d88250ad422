import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client, StatusError } from "../../src/index.js";
import { connect, failureOf } from "../support/clients.js";
import { runScript } from "../support/script.js";
import { withHint } from "../support/withHint.js";

const newer = process.env.TUNERANK_TEST_NEWER_NODE;
const nodes = [process.execPath, ...(newer ? newer.split(",") : [])];
const times = 10 * Number(process.env.TUNERANK_RUNS ?? 1);

describe.each(nodes)("%s", (node) => {
  test("a server that responds to uploads before it has read them, and closes, ends no process", async () => {
    const script = `
      import { manners, uploadEarly } from "./test/support/earlyUploads.ts";
      const both = [true, false];
      const wrong = [];
      for (const manner of Object.keys(manners)) for (const secure of both) for (const own of both)
        for (const keepAlive of both) {
          const setting = { secure, own, keepAlive, manner };
          const outcomes = await uploadEarly(setting, ${times});
          if (outcomes.length > 0) wrong.push({ ...setting, outcomes });
        }
      console.log(JSON.stringify(wrong));
    `;
    const env = { NODE_TLS_REJECT_UNAUTHORIZED: "0", NODE_NO_WARNINGS: "1" };
    const { exitCode, stdout, stderr } = await runScript(script, env, { node });
    expect({ exitCode, stderr, stdout }).toEqual({ exitCode: 0, stderr: "", stdout: "[]\n" });
  });
});

describe("a server that closes early", () => {
  // In a thread of its own it responds and closes while the client is busy writing, as a server elsewhere would.
  const impatient = `
  const { createServer } = require("node:net");
  const { parentPort } = require("node:worker_threads");
  const body = '{"message":"Not this file."}';
  const response = "HTTP/1.1 413 Payload Too Large\\r\\ncontent-length: " + body.length + "\\r\\n\\r\\n" + body;
  const server = createServer((socket) => {
    socket.on("error", () => {}).once("data", () => socket.pause().write(response, () => socket.destroy()));
  });
  server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
`;
  const bytes = 16 * 1024 * 1024;
  let server: Worker;
  let url: string;

  beforeAll(async () => {
    server = new Worker(impatient, { eval: true });
    const [port] = (await once(server, "message")) as [number];
    url = `http://127.0.0.1:${port}`;
  });
  afterAll(() => server.terminate());

  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let sent = 0; sent < bytes; sent += 65_536) yield new Uint8Array(65_536);
  }

  test.each<[what: string, call: (client: Client) => PromiseLike<unknown>]>([
    ["bytes", ({ datasets }) => datasets.upload("reviews", new Uint8Array(bytes), { name: "a" })],
    ["a stream", ({ datasets }) => datasets.upload("reviews", chunks(), { name: "a", size: bytes })],
    ["a large JSON body", ({ rerank }) => rerank({ query: "q", documents: ["x".repeat(bytes)] })],
  ])("over node:http a 413 is read though the server closed while %s was sent", async (_what, call) => {
    const errors: StatusError[] = [];
    for (let i = 0; i < 15; i += 1) errors.push(await failureOf(() => call(connect(url))));
    for (const error of errors) {
      expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no", httpStatus: 413 });
      expect(error.message).toBe(withHint("[INVALID_ARGUMENT] Not this file.", error));
    }
  });
});
