import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
const prototype = Object.getPrototypeOf(crypto);
const randomUUID = Object.getOwnPropertyDescriptor(prototype, "randomUUID");

// As in a page on plain http, which is no secure context.
beforeAll(() => {
  Reflect.deleteProperty(prototype, "randomUUID");
});
afterAll(() => {
  Object.defineProperty(prototype, "randomUUID", randomUUID as PropertyDescriptor);
});

describe.each(transports)("over $name", ({ options }) => {
  test("an upload needs no crypto.randomUUID, and each has a boundary of its own", async () => {
    expect("randomUUID" in crypto).toBe(false);
    const client = connect(server.url, options);
    for (const name of ["a.jsonl", "b.jsonl"])
      await client.datasets.upload("reviews", new Uint8Array([1]), { name });
    expect(server.requests.map(({ files }) => files[0]?.filename)).toEqual(["a.jsonl", "b.jsonl"]);
    const boundaries = server.requests.map(({ headers }) => headers["content-type"]?.split("boundary=")[1]);
    expect(new Set(boundaries).size).toBe(2);
    for (const boundary of boundaries) expect(boundary).toMatch(/^tunerank-\d{48}$/);
  });
});
