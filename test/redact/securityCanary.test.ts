import { describe, expect, test } from "vitest";
import { StatusError } from "../../src/index.js";
import { canaryKey, leaksOf, leaksWithin, startWatch, takeLeaks } from "../support/canary.js";
import { connect } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { done } from "../support/responses.js";

// Proves that the watch over the whole suite (support/canarySetup.ts) can find what it looks for.
const server = useRecordingServer();

const base64 = (before: string): string => Buffer.from(before + canaryKey).toString("base64");

const json = JSON.stringify(canaryKey);
const writings: readonly (readonly [writing: string, text: string])[] = [
  ["plain", canaryKey],
  ["as JSON", json],
  ["as JSON", json.replaceAll("/", "\\/")],
  ["as JSON", json.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")],
  ["as HTML", "canary-4tX/+=%2F&quot;\\&lt;&amp;&gt;~?z9"],
  ["percent-encoded", encodeURIComponent(canaryKey)],
  ["percent-encoded", encodeURI(canaryKey)],
  ["percent-encoded", encodeURIComponent(canaryKey).replace(/%../g, (code) => code.toLowerCase())],
  ...["", "a", "Bearer ", "user:"].map((before) => ["base64", base64(before)] as const),
  ["base64url", Buffer.from(`a${canaryKey}`).toString("base64url")],
];

class Hiding extends Error {
  readonly #key: string;
  constructor(key: string) {
    super("nothing to see");
    this.#key = key;
  }
  get authorization(): string {
    return this.#key;
  }
}

const failure = (more: object): StatusError =>
  Object.assign(new Error("failed") as StatusError, { code: "UNKNOWN" }, more);

const hidden: readonly (readonly [where: string, value: unknown])[] = [
  ["a message", new Error(`Wrong key ${canaryKey}.`)],
  ["the cause of a cause", new Error("a", { cause: new Error("b", { cause: new Error(canaryKey) }) })],
  ["a stack alone", failure({ stack: `Error\n    at ${canaryKey}` })],
  ["a member that is not enumerable", Object.defineProperty({}, "key", { value: canaryKey })],
  ["a symbol's member", { [Symbol("key")]: canaryKey }],
  ["an inherited member", Object.create({ key: canaryKey })],
  ["an inherited getter", new Hiding(canaryKey)],
  ["a member's name", { headers: { [canaryKey]: 1 } }],
  ["bytes", new Error("parse", { cause: { rawPacket: Buffer.from(`authorization: ${canaryKey}`) } })],
  ["a Map", new Map([["key", { value: canaryKey }]])],
  ["a list far down", { a: [{ b: [{ c: [{ d: [{ e: [canaryKey] }] }] }] }] }],
  ["a toJSON of its own", { toJSON: () => ({ key: canaryKey }) }],
  ["a toString of its own", { toString: () => canaryKey }],
  ["the errors of an AggregateError", new AggregateError([new Error(canaryKey)], "all failed")],
];

describe("the search for the key", () => {
  test.each(writings)("finds it %s", (writing, text) => {
    for (const search of [leaksOf, leaksWithin])
      expect(search(new Error(`<${text}>`)).map((leak) => leak.split(":")[0])).toContain(writing);
  });

  test.each(hidden)("finds it in %s", (_where, value) => {
    expect(leaksOf(value)).not.toEqual([]);
  });

  test("finds nothing in a key that differs in one character", () => {
    const other = canaryKey.replace("X", "Y");
    expect(leaksOf(new Error(`${other} ${encodeURIComponent(other)} ${btoa(other)}`))).toEqual([]);
  });
});

describe("the watch", () => {
  test("sees an error that nobody caught or kept", () => {
    // As at a file's beginning: a test before may have used up what is searched in full.
    startWatch();
    new StatusError(`Wrong key ${canaryKey}.`, { code: "UNKNOWN", executed: "no", codeSource: "client" });
    expect(takeLeaks()).toContain("a StatusError, plain: inspect");
  });

  test("sees more errors than it keeps", () => {
    for (let i = 0; i < 3000; i++) {
      const secret = i % 1000 === 0 ? canaryKey : "";
      new StatusError(`m${secret}`, { code: "UNKNOWN", executed: "no", codeSource: "client" });
    }
    const found = takeLeaks().filter((leak) => /^a StatusError, as JSON: (text|JSON)$/.test(leak));
    expect(found).toHaveLength(3);
  });

  test("sees the events and the responses of a client, of what is made of it, and of a call", async () => {
    server.reply({ ...done, headers: { "x-echo": canaryKey } });
    const heard: unknown[] = [];
    const onAttempt = (event: object): void => {
      heard.push(event);
      Object.assign(event, { key: canaryKey });
    };
    await connect(server.url).deployments.scale("prod", 1, { onAttempt }).withResponse();
    await connect(server.url, { onAttempt }).deployments.scale("prod", 1).withResponse();
    await connect(server.url).withOptions({ onAttempt }).deployments.scale("prod", 1).withResponse();
    expect(heard).toHaveLength(3);
    const found = takeLeaks();
    for (const what of ["an event", "a withResponse result"]) {
      const isIt = new RegExp(`^${what}, as JSON: (text|JSON)$`);
      expect(found.filter((leak) => isIt.test(leak))).toHaveLength(3);
    }
  });
});
