// Uploads to servers that respond before they have read all; of files that change, and of streams that are not what was said.
import { chmodSync, linkSync, renameSync, writeFileSync } from "node:fs";
import { utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { UploadFile } from "../../src/index.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { respond, useCountingServer } from "../support/countingServer.js";
import { temporaryFolder } from "../support/project.js";
import { sha256 } from "../support/recordingServer.js";
import { goodText } from "../support/responses.js";
import { runScript } from "../support/script.js";
import { isPending, soon } from "../support/turns.js";
import { expectNothingUnhandled } from "../support/unhandled.js";
import { withHint } from "../support/withHint.js";

const server = useCountingServer();
// More than what the network's buffers hold: what happens meanwhile comes while most of it has not been sent.
const content = Buffer.alloc(24 * 1024 * 1024, "a");
let folder: string;
let file: string;
let tests = 0;
let remove: () => Promise<void>;

beforeAll(async () => {
  ({ folder, remove } = await temporaryFolder());
});
beforeEach(async () => {
  file = path.join(folder, `train-${++tests}.jsonl`);
  await writeFile(file, content);
  // Written long ago: the test does not depend on how fine the clock of the file system is.
  await utimes(file, 1_000_000_000, 1_000_000_000);
});
afterAll(() => remove());

const mebibyte = new Uint8Array(1024 * 1024);
async function* mebibytes(count: number): AsyncGenerator<Uint8Array> {
  for (let index = 0; index < count; index++) yield mebibyte;
}

describe("a server in a thread of its own that responds before it has read all, and closes", () => {
  const head = (status: number, more = "") =>
    `response.writeHead(${status}, { "content-type": "application/json"${more} })`;
  const id = `'{"id":"file-1"}'`;
  const close = "() => request.socket.destroy()";
  const afterSome = (then: string) => `request.once("data", () => { request.pause(); ${then} })`;
  // What the network's buffers took of a file counts as sent.
  const accepted = ["INTERNAL yes 200", "stored"];

  test.each<[manner: string, onRequest: string, outcomes: readonly string[]]>([
    ["2xx, and closes when asked to", `${head(200, ', connection: "close"')}.end(${id})`, accepted],
    ["2xx, and closes gently", `${head(200)}.end(${id}, () => request.socket.destroySoon())`, accepted],
    ["2xx, and closes", `${head(200)}.end(${id}, ${close})`, accepted],
    ["2xx, and closes a little later", `${head(200)}.end(${id}, () => setTimeout(${close}, 5))`, accepted],
    ["2xx after some, and closes", afterSome(`${head(200)}.end(${id}, ${close})`), accepted],
    ["4xx, and closes", `${head(413)}.end("{}", ${close})`, ["INVALID_ARGUMENT no 413"]],
    [
      "5xx after some, and closes",
      afterSome(`${head(503)}.end("{}", ${close})`),
      ["UNAVAILABLE unknown 503"],
    ],
    ["nothing, and closes", `request.once("data", ${close})`, ["UNAVAILABLE unknown undefined"]],
  ])("%s: each upload is told, and no process ends", async (_manner, onRequest, outcomes) => {
    const script = `
      import http from "node:http";
      import https from "node:https";
      import { createClient } from "./src/index.ts";
      import { ThreadServer } from "./test/support/threadServer.ts";
      const both = [true, false];
      const told = new Set();
      async function* pieces(bytes) {
        for (let sent = 0; sent < bytes; sent += 65_536) yield new Uint8Array(65_536);
      }
      for (const secure of both) for (const own of both) for (const keepAlive of both) {
        const server = await ThreadServer.start({ secure, onRequest: process.env.ON_REQUEST });
        const agent = new (secure ? https : http).Agent({ keepAlive });
        const options = own ? { agent } : { keepAliveMs: keepAlive ? 4_000 : 0 };
        const client = createClient({ baseUrl: server.url, accountId: "acme", maxRetries: 0, ...options });
        for (let i = 0; i < 12; i++) {
          const size = (i % 2 ? 64 : 16) * 65_536;
          const [file, more] = i % 3 ? [new Uint8Array(size), {}] : [pieces(size), { size }];
          await client.datasets.upload("reviews", file, { name: "a", ...more }).then(
            () => told.add("stored"),
            ({ code, executed, httpStatus }) => told.add([code, executed, httpStatus].map(String).join(" ")),
          );
        }
        await client.close();
        agent.destroy();
        await server.close();
      }
      console.log(JSON.stringify([...told]));
    `;
    const env = { ON_REQUEST: onRequest, NODE_TLS_REJECT_UNAUTHORIZED: "0", NODE_NO_WARNINGS: "1" };
    const { exitCode, stdout, stderr } = await runScript(script, env);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const told: string[] = JSON.parse(stdout);
    expect(told).not.toEqual([]);
    expect(outcomes).toEqual(expect.arrayContaining(told));
  });
});

describe("a response that comes before the file was sent", () => {
  const clock = useTestClock();
  expectNothingUnhandled();
  const sources: readonly (readonly [what: string, source: () => UploadFile])[] = [
    ["a path", () => file],
    ["bytes", () => content],
    ["a Blob", () => new Blob([content])],
    ["a stream", () => mebibytes(24)],
  ];
  const followed = transports.flatMap(({ name, options }) =>
    sources.map(([what, source]) => ({ name, options, what, source })),
  );

  test.each(followed)("over $name of $what is no success", async ({ name, options, source }) => {
    server.listen((request, response) => {
      request.on("error", () => {}).pause();
      response.writeHead(200, { "content-type": "application/json", "content-length": "2" });
      response.write("{}");
    });
    const client = connect(server.url, options);
    const upload = { name: "train.jsonl", timeoutMs: 5_000 };
    const running = failureOf(() => client.datasets.upload("reviews", source(), upload));
    // As long as an upload may stand still after its response, and once more where some of it was taken meanwhile; a fetch function
    // does not tell what was sent.
    if (name === "node:http") while (await isPending(running)) if (clock.isAwaited(1_000)) clock.pass(1_000);
    const error = await running;
    expect(error).toMatchObject({ code: "INTERNAL", httpStatus: 200, executed: "yes" });
    const text = "[INTERNAL] The response came before the whole file was sent.";
    expect(error.message).toBe(withHint(text, error));
    expect(server.used).toHaveLength(1);
  });

  // A slow link takes nothing for seconds, then all that its buffers have room for.
  const step = 4 * 1024 * 1024;
  test.each(sources)("of %s that is then taken slowly, succeeds", async (_what, source) => {
    const received = new Promise<number>((resolve) => {
      server.listen(async (request, response) => {
        response.writeHead(200, { "content-type": "application/json" }).write('{"id":"file-1"}');
        response.end();
        let bytes = 0;
        for await (const { length } of request) {
          // By then the client has the response, and waits.
          if ((bytes % step) + length > step && bytes > step) clock.pass(1_500);
          bytes += length;
        }
        resolve(bytes);
      });
    });
    const upload = { name: "train.jsonl", timeoutMs: 500_000 };
    const stored = await connect(server.url).datasets.upload("reviews", source(), upload);
    expect(stored).toEqual({ id: "file-1" });
    expect(await soon(received, "the whole file", 60_000)).toBeGreaterThan(content.byteLength);
  });

  test.each(followed)("over $name and refuses $what is the failure", async ({ name, options, source }) => {
    server.listen((request, response) => {
      request.on("error", () => {}).pause();
      response.writeHead(413, { "content-type": "application/json", "content-length": "28" });
      // Not ended: Node would then read the rest to use the connection again.
      response.write('{"message":"Not this file."}');
    });
    const client = connect(server.url, options);
    const upload = { name: "train.jsonl" };
    const error = await failureOf(() => client.datasets.upload("reviews", source(), upload));
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", executed: "no", codeSource: "status" });
    expect(error.message).toBe(withHint("[INVALID_ARGUMENT] Not this file.", error));
    server.listen(respond);
    await client.datasets.upload("reviews", new Uint8Array(9), upload);
    await client.deployments.scale("prod", 1);
    if (name === "node:http") expect(server.used).toEqual([1, 2, 2]);
  });
});

/** What the server got: the hash of as many bytes as the file has, and whether the body came whole. */
interface Received {
  readonly sha256: string;
  readonly complete: boolean;
}

/** Responds to what comes whole; the first bytes are held back until `change` is done. */
function receive(change: () => void = () => {}): Promise<Received> {
  return new Promise((resolve) => {
    server.listen((request, response) => {
      const chunks: Buffer[] = [];
      request
        .once("data", change)
        .on("data", (chunk: Buffer) => chunks.push(chunk))
        .on("end", () => response.end(goodText))
        .on("error", () => {})
        .on("close", () => {
          const body = Buffer.concat(chunks);
          const start = body.indexOf("\r\n\r\n") + 4;
          const bytes = body.subarray(start, start + content.byteLength);
          resolve({ sha256: sha256(bytes), complete: request.complete });
        });
    });
  });
}

describe.each(transports)("over $name", ({ name, options }) => {
  const harmless: readonly (readonly [how: string, change: () => void])[] = [
    ["gets other permissions", () => chmodSync(file, 0o600)],
    ["gets another name", () => renameSync(file, `${file}.moved`)],
    ["gets a second name", () => linkSync(file, `${file}.linked`)],
    [
      "is replaced by another through a rename",
      () => {
        writeFileSync(`${file}.new`, Buffer.alloc(content.byteLength, "b"));
        renameSync(`${file}.new`, file);
      },
    ],
  ];
  const inMoments = harmless.flatMap(([how, change]) =>
    [true, false].map((isSent) => [how, isSent, change] as const),
  );

  test.skipIf(process.platform === "win32").each(inMoments)(
    "a file that %s (while it is sent: %s) arrives as it was when the call began",
    async (_how, isSent, change) => {
      // Once its first bytes came, or, after it was opened, while the key is asked for.
      const received = receive(isSent ? change : undefined);
      const apiKey = async () => {
        if (!isSent) change();
        return "key";
      };
      await connect(server.url, { ...options, apiKey }).datasets.upload("reviews", file);
      const whole = { sha256: sha256(content), complete: true };
      expect(await soon(received, "the end of the body", 60_000)).toEqual(whole);
    },
  );

  test("a file that is rewritten before a second try is not sent again", async () => {
    server.listen((request, response) => {
      request
        .on("end", () => {
          writeFileSync(file, "b", { flag: "r+" });
          response.writeHead(503, { "retry-after-ms": "1" }).end('{"code":"UNAVAILABLE"}');
        })
        .resume();
    });
    const client = connect(server.url, { ...options, maxRetries: 2 });
    const error = await failureOf(() => client.datasets.upload("reviews", file));
    expect(error).toMatchObject({ code: "FAILED_PRECONDITION", executed: "unknown", codeSource: "client" });
    expect(error.attempts).toMatchObject([{ code: "UNAVAILABLE" }]);
    expect(error.message).toContain("changed");
    expect(server.used).toHaveLength(1);
  });

  // Through fetch a stream is read whole first, so that nothing was sent; node:http had begun.
  const nodeHttp = name === "node:http";
  test.each([
    ["fewer bytes", 3 * mebibyte.byteLength + 1],
    ["more bytes", 3 * mebibyte.byteLength - 1],
    ["any bytes", 0],
  ])("a stream that has %s than its size never arrives whole; its client goes on", async (_how, size) => {
    const received = receive();
    const client = connect(server.url, options);
    const send = (given: number) =>
      client.datasets.upload("reviews", mebibytes(3), { name: "train.jsonl", size: given });
    const error = await failureOf(() => send(size));
    const executed = nodeHttp ? "unknown" : "no";
    expect(error).toMatchObject({ code: "FAILED_PRECONDITION", executed, codeSource: "client" });
    expect(error.message).toContain(String(size));
    if (nodeHttp) expect((await soon(received, "the end of the body", 60_000)).complete).toBe(false);
    else expect(server.connections).toBe(0);
    await send(3 * mebibyte.byteLength);
    await client.deployments.scale("prod", 1);
    if (nodeHttp) expect(server.used).toEqual([1, 2, 2]);
  });
});
