import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { connect, failureOf, operationCalls, transports } from "../support/clients.js";
import { type Reply, useRecordingServer } from "../support/recordingServer.js";
import { runScript } from "../support/script.js";
import { soon } from "../support/turns.js";

const server = useRecordingServer();
const mebibyte = 1024 * 1024;

/** A JSON object of exactly so many bytes. */
function objectOf(bytes: number): Buffer {
  const text = Buffer.alloc(bytes, "x");
  text.write('{"data":[],"id":"');
  text.write('"}', bytes - 2);
  return text;
}

const sendings: readonly (readonly [how: string, reply: (text: Buffer) => Reply])[] = [
  ["with its length", (text) => ({ text, headers: { "content-length": String(text.byteLength) } })],
  ["in chunks", (text) => ({ text, headers: { "transfer-encoding": "chunked" } })],
  ["as gzip", (text) => ({ text: gzipSync(text), headers: { "content-encoding": "gzip" } })],
];

// Packed once: that takes a second.
const written = new Map<string, Reply>();
function replyOf(bytes: number, how: string, reply: (text: Buffer) => Reply): Reply {
  const key = `${bytes} ${how}`;
  const known = written.get(key) ?? reply(objectOf(bytes));
  written.set(key, known);
  return known;
}

// Large responses take their time: of rerank's one way of sending is enough.
const limits = operationCalls.map((operation) =>
  operation.operation === "rerankDocuments"
    ? { ...operation, limit: 64 * mebibyte, ways: sendings.slice(-1) }
    : { ...operation, limit: mebibyte, ways: sendings },
);

describe.each(transports)("over $name", ({ options }) => {
  describe.each(limits)("$operation takes $limit decoded bytes", ({ operation, call, limit, ways }) => {
    test.each(ways)("and one more is RESOURCE_EXHAUSTED, sent %s", async (how, reply) => {
      const client = connect(server.url, options);
      // Reading 64 MiB may hold up this process, and its server, for as long as that keeps an idle connection.
      server.keepSocketsOpen();
      const [most, more] = [limit, limit + 1].map((bytes) => replyOf(bytes, how, reply)) as [Reply, Reply];
      server.reply(most);
      await call(client);
      server.reply(more);
      const error = await failureOf(() => call(client));
      expect(error).toMatchObject({
        code: "RESOURCE_EXHAUSTED",
        executed: "yes",
        httpStatus: 200,
        inferred: true,
        codeSource: "client",
        operation,
      });
      expect(error.message).toContain(String(limit));
    });
  });

  test("a whole response of 1 MiB is not cut at the end of a character", async () => {
    const id = "東".repeat(300_000);
    server.reply({ json: { id } });
    const job = await connect(server.url, options).reinforcementFineTuningJobs.resume("job-1");
    expect((job as { id?: string }).id).toBe(id);
  });

  test("an error body over 64 KiB still has the code of its status, however it is sent", async () => {
    for (const [, reply] of sendings) {
      server.reply({
        ...reply(Buffer.from(JSON.stringify({ message: "x".repeat(3 * mebibyte) }))),
        status: 429,
      });
      const error = await failureOf(() => connect(server.url, options).deployments.scale("prod", 1));
      expect(error).toMatchObject({ code: "RESOURCE_EXHAUSTED", executed: "no", codeSource: "status" });
      expect(String(error.body)).toHaveLength(4096);
    }
  });

  test.each([
    [200, "RESOURCE_EXHAUSTED", "yes"],
    [404, "NOT_FOUND", "no"],
  ])(
    "a response of %i without end is left at the limit, and its connection is closed",
    async (status, code, executed) => {
      const closed = new Promise<void>((resolve) => {
        server.reply((_request, response) => {
          response.writeHead(status);
          const more = (): void => {
            if (!response.destroyed) response.write(Buffer.alloc(65_536, " "), () => setImmediate(more));
          };
          response.on("close", resolve);
          more();
          return undefined;
        });
      });
      const error = await failureOf(() => connect(server.url, options).deployments.scale("prod", 1));
      expect(error).toMatchObject({ code, executed });
      await soon(closed, "the end of the connection");
    },
  );

  test("an error body of just under 64 KiB is read whole", async () => {
    const message = "x".repeat(63 * 1024);
    server.reply({ status: 404, json: { message, code: "NOT_FOUND" } });
    const error = await failureOf(() => connect(server.url, options).deployments.scale("prod", 1));
    expect(error).toMatchObject({ code: "NOT_FOUND", codeSource: "body" });
  });

  test("a few bytes that unpack to a gigabyte take no memory", async () => {
    // One member of gzip, a thousand times: together 1 GiB of spaces.
    const member = gzipSync(Buffer.alloc(mebibyte, " "), { level: 9 });
    const bomb = Buffer.concat(Array.from({ length: 1024 }, () => member));
    server.reply(({ url }) => ({
      text: bomb,
      status: url.endsWith("missing:scale") ? 404 : 200,
      headers: { "content-encoding": "gzip" },
    }));
    const script = `
      import { createClient } from "./src/index.ts";
      const client = createClient({
        baseUrl: process.env.URL, accountId: "a", maxRetries: 0${options.fetch ? ", fetch" : ""}
      });
      const before = process.resourceUsage().maxRSS;
      const told = [];
      for (const id of ["prod", "missing"]) {
        await client.deployments.scale(id, 1).catch(({ code, executed }) => told.push(code, executed));
      }
      const grownMb = Math.round((process.resourceUsage().maxRSS - before) / 1024);
      console.log(JSON.stringify({ told, grownMb }));
    `;
    const { stdout, stderr } = await runScript(script, { URL: server.url });
    expect(stderr).toBe("");
    const { told, grownMb } = JSON.parse(stdout) as { told: string[]; grownMb: number };
    expect(told).toEqual(["RESOURCE_EXHAUSTED", "yes", "NOT_FOUND", "no"]);
    expect(grownMb).toBeLessThan(80);
  });
});
