import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CallPromise, type Client, type FetchLike, isStatusError } from "../../../src/index.js";
import { transports } from "../../support/clients.js";
import { goodText } from "../../support/responses.js";
import { useEchoServer } from "./support/echoServer.js";
import { holdsFor, inOneRead, plainClient, within } from "./support/runs.js";
import { hostileString } from "./support/strings.js";

const server = useEchoServer();
const bytes = new Uint8Array([1]);

// Where the contract's path has the id.
type Call = (client: Client, id: string) => CallPromise<unknown>;
const places: readonly (readonly [call: Call, before: string, after: string])[] = [
  [
    (client, id) => client.reinforcementFineTuningJobs.resume(id),
    "POST /v1/accounts/acme/reinforcementFineTuningJobs/",
    ":resume",
  ],
  [(client, id) => client.deployments.scale(id, 1), "PATCH /v1/accounts/acme/deployments/", ":scale"],
  [
    (client, id) => client.datasets.upload(id, bytes, { name: "f" }),
    "POST /v1/accounts/acme/datasets/",
    ":upload",
  ],
  [
    (client, accountId) => client.deployments.scale("prod", 1, { accountId }),
    "PATCH /v1/accounts/",
    "/deployments/prod:scale",
  ],
];

const cases = fc.record({ id: hostileString, place: fc.constantFrom(...places) });

// The rule, written once more in another way.
function usable(id: string): boolean {
  return id.length <= 256 && !/^\.{1,2}$/.test(id) && /^[^/\\?#%\p{Cc}\p{Cs}]+$/u.test(id);
}

/** Makes the call; the request that was received, or undefined when it was refused before sending. */
async function requestOf(client: Client, call: Call, id: string): Promise<string | undefined> {
  try {
    const { headers } = await call(client, id).withResponse();
    return headers["x-received"];
  } catch (error) {
    if (!isStatusError(error, "INVALID_ARGUMENT") || error.executed !== "no") throw error;
    assert.equal(error.attempts.length, 0);
    return undefined;
  }
}

function isThere(received: string, id: string, [, before, after]: (typeof places)[number]): void {
  assert.ok(received.startsWith(before) && received.endsWith(after), received);
  const segment = received.slice(before.length, -after.length);
  assert.doesNotMatch(segment, /[/\\?#:]|^\.{0,2}$/);
  assert.equal(decodeURIComponent(segment), id);
}

// A fetch function is told the same URL as a server is: 100,000 times over sockets would take too long.
let handed = 0;
const address = "https://api.example.com";
const recording: FetchLike = async (url, { method }: { method: string }) => {
  handed += 1;
  assert.ok(url.startsWith(`${address}/`), url);
  const received = `${method} ${url.slice(address.length)}`;
  return { status: 200, headers: new Map([["x-received", received]]), body: inOneRead(goodText) };
};

describe.each([
  { name: "a fetch function", options: { fetch: recording }, baseUrl: () => address, count: 80_000 },
  ...transports.map((transport) => ({ ...transport, baseUrl: () => server.url, count: 10_000 })),
])("over $name", ({ options, baseUrl, count }) => {
  test(
    "an id goes to exactly its place in the operation's path, or nowhere",
    async () => {
      const client = plainClient(baseUrl(), options);
      server.requests = handed = 0;
      let sent = 0;
      await holdsFor(cases, count, async ({ id, place }) => {
        const received = await requestOf(client, place[0], id);
        assert.equal(received !== undefined, usable(id));
        if (received === undefined) return;
        sent += 1;
        isThere(received, id, place);
      });
      expect(server.requests + handed).toBe(sent);
      expect(sent).toBeGreaterThan(0);
      await client.close();
    },
    within(300_000),
  );
});
