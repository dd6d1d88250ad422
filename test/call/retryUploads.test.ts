import { randomBytes } from "node:crypto";
import { once } from "node:events";
import http from "node:http";
import { connect as connectSocket } from "node:net";
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import type { Client, UploadFile } from "../../src/index.js";
import { done, inTurn, unavailable } from "../support/answers.js";
import { useNoBackoff } from "../support/backoff.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { sha256, useRecordingServer } from "../support/recordingServer.js";
import { useTemporaryFile } from "../support/temporaryFile.js";

const server = useRecordingServer();
useNoBackoff();
const content = randomBytes(1_500_007);
const file = useTemporaryFile(content);

const replayable: readonly (readonly [what: string, file: () => UploadFile])[] = [
  ["a path", () => file],
  ["a Blob", () => new Blob([content])],
  ["bytes", () => content],
];

function received(): (readonly string[])[] {
  return server.requests.map(({ files }) => files.map((one) => one.sha256));
}

/** An agent whose first connections go to a port nobody listens on: the near end of another connection. */
async function refusingAgent(times: number): Promise<{ agent: http.Agent; close: () => void }> {
  const port = Number(new URL(server.url).port);
  const taken = connectSocket(port, "127.0.0.1");
  await once(taken, "connect");
  let made = 0;
  const agent = Object.assign(new http.Agent(), {
    createConnection: () =>
      connectSocket({ host: "127.0.0.1", port: made++ < times ? Number(taken.localPort) : port }),
  });
  return { agent, close: () => taken.destroy() };
}

describe.each(transports)("over $name", ({ options }) => {
  const retrying = (): Client => connect(server.url, { maxRetries: 2, ...options });

  test.each(replayable)("an upload of %s is repeated with the same bytes", async (_what, source) => {
    server.reply(inTurn(unavailable, unavailable, { json: { id: "file-1" } }));
    const { id } = await retrying().datasets.upload("reviews", source(), { name: "train.jsonl" });
    expect(id).toBe("file-1");
    expect(received()).toEqual(Array(3).fill([sha256(content)]));
  });

  test.each(replayable)("onProgress of %s never goes back across repeats", async (_what, source) => {
    server.reply(inTurn(unavailable, unavailable, done));
    const sent: number[] = [];
    await retrying().datasets.upload("reviews", source(), {
      name: "train.jsonl",
      onProgress: ({ sentBytes }) => sent.push(sentBytes),
    });
    expect(server.requests).toHaveLength(3);
    expect(sent).toEqual([...sent].sort((a, b) => a - b));
    expect(sent.at(-1)).toBe(content.byteLength);
  });

  test("a stream that was read is not sent again", async () => {
    server.reply(unavailable);
    const error = await failureOf(() =>
      retrying().datasets.upload("reviews", Readable.from([content]), { name: "train.jsonl" }),
    );
    expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "unknown" });
    expect(received()).toEqual([[sha256(content)]]);
  });

  test("a stream that was read is not sent again with a fresh key either", async () => {
    server.reply({ status: 401, json: {} });
    let asked = 0;
    const client = retrying().withOptions({ apiKey: () => `key-${++asked}` });
    const error = await failureOf(() =>
      client.datasets.upload("reviews", Readable.from([content]), { name: "train.jsonl" }),
    );
    expect(error).toMatchObject({ code: "UNAUTHENTICATED", executed: "no" });
    expect(server.requests).toHaveLength(1);
  });
});

// A fetch function sends no stream: there it is read whole before anything is known of a connection.
test("over node:http a stream is sent once a connection comes, after some were refused", async () => {
  const { agent, close } = await refusingAgent(2);
  try {
    const client = connect(server.url, { maxRetries: 2, agent });
    const stream = Readable.from([content]);
    const { attempts } = await client.datasets
      .upload("reviews", stream, { name: "train.jsonl" })
      .withResponse();
    expect(attempts.map(({ code }) => code)).toEqual(["UNAVAILABLE", "UNAVAILABLE", undefined]);
    expect(received()).toEqual([[sha256(content)]]);
  } finally {
    close();
    agent.destroy();
  }
});

test("over node:http a stream whose connections were all refused has not been read", async () => {
  const { agent, close } = await refusingAgent(3);
  try {
    const client = connect(server.url, { maxRetries: 2, agent });
    let read = 0;
    const stream = new Readable({
      read() {
        read += 1;
        this.push(null);
      },
    });
    const error = await failureOf(() => client.datasets.upload("reviews", stream, { name: "train.jsonl" }));
    expect(error).toMatchObject({ code: "UNAVAILABLE", executed: "no", codeSource: "transport" });
    expect(error.attempts).toHaveLength(3);
    expect(read).toBe(0);
    expect(server.requests).toEqual([]);
  } finally {
    close();
    agent.destroy();
  }
});
