import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Client, type FetchLike, isStatusError } from "../../../src/index.js";
import { transports } from "../../support/clients.js";
import { useEchoServer } from "./support/echoServer.js";
import { holdsFor, inOneRead, plainClient, within } from "./support/runs.js";
import { hostileString } from "./support/strings.js";

const server = useEchoServer();

// Whole strings, and segments that begin as a path should. Path and query come back in a header of the response, which
// Node reads up to 16 KiB: each character may take nine.
const path = fc
  .oneof(
    hostileString,
    hostileString.map((text) => `/${text}`),
    fc.array(hostileString, { minLength: 1, maxLength: 4 }).map((segments) => `/${segments.join("/")}`),
  )
  .map((long) => long.slice(0, 1000));
const text = hostileString.map((long) => long.slice(0, 100));
const query = fc.dictionary(text, fc.oneof(text, fc.array(text, { maxLength: 2 })), { maxKeys: 2 });
const cases = fc.record({ path, query });

// The rules, written once more in another way.
function isUsable(given: string): boolean {
  return (
    given
      .split("/")
      .every((segment, index) =>
        index === 0
          ? segment === ""
          : segment.length <= 256 && !/^\.{1,2}$/.test(segment) && /^[^/\\?#%\p{Cc}\p{Cs}]+$/u.test(segment),
      ) && given.startsWith("/")
  );
}

type Query = Readonly<Record<string, string | readonly string[]>>;

function pairsOf(given: Query): string[][] {
  return Object.entries(given).flatMap(([name, value]) =>
    [value].flat().map((each) => [name, each as string]),
  );
}

// As the server reads it.
function isThere(received: string, base: string, given: { path: string; query: Query }): void {
  assert.ok(received.startsWith(`POST ${base}/`), received);
  const [target = "", search = ""] = received.slice(`POST ${base}`.length).split("?", 2);
  assert.deepEqual(target.split("/").map(decodeURIComponent), given.path.split("/"));
  assert.match(received, /^POST [^#\\\s]+$/);
  assert.deepEqual([...new URLSearchParams(search)], pairsOf(given.query));
}

/** Makes the call; the request that was received, or undefined when it was refused before sending. */
async function requestOf(client: Client, given: { path: string; query: Query }): Promise<string | undefined> {
  try {
    const { headers } = await client.request({ method: "POST", body: {}, ...given }).withResponse();
    return headers["x-received"];
  } catch (error) {
    if (!isStatusError(error, "INVALID_ARGUMENT") || error.executed !== "no") throw error;
    assert.equal(error.attempts.length, 0);
    return undefined;
  }
}

// A fetch function is told the same URL as a server is: so often over sockets would take too long.
let handed = 0;
const address = "https://api.example.com";
const recording: FetchLike = async (url, { method }: { method: string }) => {
  handed += 1;
  assert.equal(new URL(url).href, url);
  assert.equal(new URL(url).origin, address);
  const headers = new Map([["x-received", `${method} ${url.slice(address.length)}`]]);
  return { status: 200, headers, body: inOneRead("") };
};

describe.each([
  { name: "a fetch function", options: { fetch: recording }, baseUrl: () => address, count: 40_000 },
  ...transports.map((transport) => ({ ...transport, baseUrl: () => server.url, count: 4_000 })),
])("over $name", ({ options, baseUrl, count }) => {
  test.each(["", "/team/a%20pi"])(
    "a path is sent segment by segment below the base URL%s, or not at all",
    async (base) => {
      const client = plainClient(baseUrl() + base, options);
      server.requests = handed = 0;
      let sent = 0;
      await holdsFor(cases, count, async (given) => {
        const received = await requestOf(client, given);
        const wellFormed = pairsOf(given.query)
          .flat()
          .every((each) => !/\p{Cs}/u.test(each));
        assert.equal(received !== undefined, isUsable(given.path) && wellFormed);
        if (received === undefined) return;
        sent += 1;
        isThere(received, base, given);
      });
      expect(server.requests + handed).toBe(sent);
      expect(sent).toBeGreaterThan(0);
      await client.close();
    },
    within(300_000),
  );
});
