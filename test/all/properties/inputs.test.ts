import assert from "node:assert/strict";
import fc, { type Arbitrary } from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { httpStatuses } from "../../../src/generated/contract.js";
import {
  type CallPromise,
  type Client,
  type FetchLike,
  isStatusError,
  type RerankRequest,
} from "../../../src/index.js";
import { transports } from "../../support/clients.js";
import { useRecordingServer } from "../../support/recordingServer.js";
import { goodText } from "../../support/responses.js";
import {
  anyString,
  base64,
  hides,
  holdsFor,
  hostileString,
  isRefusal,
  longString,
  plainClient,
  settled,
  visible,
  within,
} from "./runs.js";

// Responds as the query of a rerank says.
const server = useRecordingServer();
beforeEach(() => {
  server.reply(({ body: sent }, response) => {
    // Node's fetch leaves out the body of the request it makes after a long 421.
    if (sent.length === 0) return void response.destroy();
    const { status, headers, body } = JSON.parse(JSON.parse(`${sent}`).query);
    return { status, headers, text: Buffer.from(body, "base64") };
  });
});

/** A request that asks for a response, whose body is in base64. */
function asking(response: { status: number; headers: Record<string, string>; body: string }): RerankRequest {
  return { query: JSON.stringify(response), documents: ["respond as the query says"] };
}

describe("a base URL", () => {
  const secret = "pw-7Q9x";
  const scheme = fc.constantFrom(
    ..."https:// http:// HTTPS:// https: https:/// http:/ ftp:// file:// javascript: // wss://".split(" "),
    "",
  );
  const user = fc.constantFrom("", "", "", `${secret}@`, `me:${secret}@`);
  const host = fc.oneof(
    fc.constantFrom(
      ..."api.example.com localhost 127.0.0.1 127.1 0x7f.0.0.1 2130706433 [::1] [::2] 10.0.0.1 0.0.0.0".split(
        " ",
      ),
      ..."localhost. 127.0.0.1.example.com bücher.example EXAMPLE.com a..b %6cocalhost".split(" "),
    ),
    anyString,
  );
  const port = fc.constantFrom("", "", ":80", ":443", ":4010", ":0", ":65536", ":x");
  const path = fc.oneof(
    fc.constantFrom(
      "",
      "/",
      "//",
      "/base",
      "/base/",
      "/a//b/",
      "/a/../b",
      "/a/%2E%2e",
      "/{account_id}",
      "/$&",
    ),
    anyString.map((text) => `/${text}`),
    longString.map((text) => `/${text}`),
  );
  const rest = fc.constantFrom("", "", "", "", `?key=${secret}`, `#${secret}`, "?", "#");

  const addresses = fc.record({
    baseUrl: fc.oneof(
      { weight: 9, arbitrary: fc.tuple(scheme, user, host, port, path, rest).map((parts) => parts.join("")) },
      { weight: 1, arbitrary: hostileString },
    ),
    allowInsecureHttp: fc.boolean(),
  });

  const ownMachine = /^(localhost|\[::1\]|127(\.\d+){3})$/;

  /** What an address that was taken must be, and where a call of it must go. */
  function destination(baseUrl: string, allowInsecureHttp: boolean): string {
    const { protocol, hostname, origin, pathname, username, password, search, hash } = new URL(baseUrl);
    assert.deepEqual([username, password, search, hash], ["", "", "", ""]);
    assert.ok(
      protocol === "https:" || (protocol === "http:" && (allowInsecureHttp || ownMachine.test(hostname))),
    );
    let end = pathname.length;
    while (pathname[end - 1] === "/") end -= 1;
    return `${origin}${pathname.slice(0, end)}/v1/accounts/acme/deployments/prod:scale`;
  }

  test(
    "an address is used as the URL standard reads it, or refused without saying it again",
    async () => {
      let taken = 0;
      await holdsFor(addresses, 4_000, async ({ baseUrl, allowInsecureHttp }) => {
        const urls: string[] = [];
        const fetch: FetchLike = async (url) => {
          urls.push(url);
          return new Response("{}");
        };
        const { value: client, error } = await settled(() =>
          plainClient(baseUrl, { fetch, allowInsecureHttp }),
        );
        if (error !== undefined) {
          assert.ok(error.code === "INVALID_ARGUMENT" && error.executed === "no");
          hides(error, secret);
          if (baseUrl.length > 20) hides(error, baseUrl);
          return;
        }
        taken += 1;
        await client?.deployments.scale("prod", 1);
        assert.deepEqual(urls, [destination(baseUrl, allowInsecureHttp)]);
      });
      assert.ok(taken > 0);
    },
    within(300_000),
  );
});

// The rule of ids and of a path's segments, written once more in another way.
function isId(text: string): boolean {
  return text.length <= 256 && !/^\.{1,2}$/.test(text) && /^[^/\\?#%\p{Cc}\p{Cs}]+$/u.test(text);
}

/** Makes the call; the request that was received, or undefined when it was refused before sending. */
async function requestOf(call: () => CallPromise<unknown>): Promise<string | undefined> {
  try {
    return (await call().withResponse()).headers["x-received"];
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
  const received = `${method} ${url.slice(address.length)}`;
  return new Response(goodText, { headers: { "x-received": received } });
};

describe("an id", () => {
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

  function isThere(received: string, id: string, [, before, after]: (typeof places)[number]): void {
    assert.ok(received.startsWith(before) && received.endsWith(after), received);
    const segment = received.slice(before.length, -after.length);
    assert.doesNotMatch(segment, /[/\\?#:]|^\.{0,2}$/);
    assert.equal(decodeURIComponent(segment), id);
  }

  test(
    "an id goes to exactly its place in the operation's path, or nowhere",
    async () => {
      const client = plainClient(address, { fetch: recording });
      let sent = 0;
      await holdsFor(cases, 20_000, async ({ id, place }) => {
        const received = await requestOf(() => place[0](client, id));
        assert.equal(received !== undefined, isId(id));
        if (received === undefined) return;
        sent += 1;
        isThere(received, id, place);
      });
      expect(handed).toBe(sent);
      expect(sent).toBeGreaterThan(0);
    },
    within(300_000),
  );
});

describe("an error body", () => {
  const name = fc.oneof(
    fc.constantFrom(...Object.keys(httpStatuses), "not_found", "canceled", "ok", "toString"),
    anyString,
    fc.integer({ min: -2, max: 600 }),
  );
  const said: Arbitrary<unknown> = fc.oneof(hostileString, fc.jsonValue());
  const shape: Arbitrary<unknown> = fc.oneof(
    fc.record({ error: fc.record({ code: name, message: said, status: name }, { requiredKeys: [] }) }),
    fc.record({ code: name, message: said, details: said }, { requiredKeys: [] }),
    fc.record({ error: said }),
    fc.record({ detail: fc.oneof(said, fc.array(fc.record({ msg: said }))) }),
    fc.record({ title: said, Message: said }, { requiredKeys: [] }),
    fc.jsonValue({ maxDepth: 6 }),
  );
  const json = fc
    .tuple(shape, fc.boolean(), fc.constantFrom("", "\ufeff", " \n"))
    .map(([value, listed, before]) => before + JSON.stringify(listed ? [value] : value));

  const body: Arbitrary<string> = fc.oneof(
    { weight: 6, arbitrary: json.map(base64) },
    { weight: 2, arbitrary: fc.tuple(json, fc.nat(200)).map(([text, end]) => base64(text.slice(0, end))) },
    { weight: 2, arbitrary: hostileString.map(base64) },
    { weight: 1, arbitrary: hostileString.map((text) => base64(`<!doctype html><title>${text}</title>`)) },
    {
      weight: 1,
      arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString("base64")),
    },
    { weight: 1, arbitrary: fc.nat(70_000).map((depth) => base64("[".repeat(depth))) },
  );

  const cases = fc.record({
    status: fc.oneof(fc.integer({ min: 300, max: 599 }), fc.constantFrom(400, 401, 404, 409, 429, 500, 503)),
    type: fc.constantFrom("application/json", "text/html", "text/plain; charset=latin1", ""),
    body,
    key: fc.string({ unit: visible, maxLength: 40 }).map((rest) => `sk-7Q9xZ${rest}`),
    echoed: fc.boolean(),
  });

  // What Node's fetch does with two responses: a 407 it gives to nobody; after a 421 it asks again, and loses its own request
  // when the response was long.
  const lostByFetch: ReadonlySet<number> = new Set([407, 421]);
  describe.each(transports)("over $name", ({ name: transport, options }) => {
    test(
      "every error response becomes a StatusError with its status, of bounded size, without the key",
      async () => {
        const reached = new Set<string>();
        await holdsFor(cases, 3_000, async ({ status, type, body, key, echoed }) => {
          const client = plainClient(server.url, { ...options, apiKey: key });
          const content = echoed ? base64(JSON.stringify({ message: key, body })) : body;
          const response = { status, headers: { "content-type": type, "x-request-id": key }, body: content };
          const { error } = await settled(() => client.rerank(asking(response)));
          await client.close();
          assert.ok(error && error.code in httpStatuses && error.attempts.length === 1);
          reached.add(error.code);
          hides(error, key);
          assert.ok(error.message.startsWith(`[${error.code}] `));
          assert.ok(JSON.stringify(error).length < 64 * 1024);
          if (transport === "fetch" && lostByFetch.has(status) && error.httpStatus === undefined) {
            return assert.equal(error.executed, "unknown");
          }
          assert.equal(error.httpStatus, status);
          assert.ok(error.executed === "unknown" || (error.executed === "no" && isRefusal(status)));
        });
        assert.ok(reached.size >= 10, [...reached].join());
      },
      within(300_000),
    );
  });
});
