import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, test } from "vitest";
import type { FetchLike } from "../../../src/index.js";
import { transports } from "../../support/clients.js";
import { useEchoServer } from "./support/echoServer.js";
import { hides, settled } from "./support/failures.js";
import { holdsFor, inOneRead, plainClient, within } from "./support/runs.js";
import { anyString, hostileString, longString } from "./support/strings.js";

const server = useEchoServer();

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
  fc.constantFrom("", "/", "//", "/base", "/base/", "/a//b/", "/a/../b", "/a/%2E%2e", "/{account_id}", "/$&"),
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
    await holdsFor(addresses, 8_000, async ({ baseUrl, allowInsecureHttp }) => {
      const urls: string[] = [];
      const fetch: FetchLike = async (url) => {
        urls.push(url);
        return { status: 200, headers: new Map(), body: inOneRead("{}") };
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

const segments = fc.array(fc.oneof(anyString, fc.constantFrom("base", "v2", "")), { maxLength: 4 });

describe.each(transports)("over $name", ({ options }) => {
  test(
    "the path of an address comes before the operation's own",
    async () => {
      let taken = 0;
      await holdsFor(segments, 1_000, async (prefix) => {
        const baseUrl = [server.url, ...prefix].join("/");
        const { value: client } = await settled(() => plainClient(baseUrl, options));
        if (client === undefined) return;
        const { headers } = await client.deployments.scale("prod", 1).withResponse();
        await client.close();
        taken += 1;
        const sent = headers["x-received"]?.replace("PATCH ", server.url);
        assert.equal(sent, destination(baseUrl, false));
      });
      assert.ok(taken > 0);
    },
    within(300_000),
  );
});
