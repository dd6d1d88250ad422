import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, test } from "vitest";
import type { RerankRequest } from "../../../src/index.js";
import { transports } from "../../support/clients.js";
import { type Echo, useEchoServer } from "./support/echoServer.js";
import { settled } from "./support/failures.js";
import { holdsFor, plainClient, within } from "./support/runs.js";
import { anyString, hostileString } from "./support/strings.js";

const server = useEchoServer();
const body: RerankRequest = { query: "q", documents: ["d"] };
const printable = fc.string({
  unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
});

const cases = fc.record({
  name: fc.oneof(
    fc.constantFrom("x-test", "X-Test", "__proto__", "constructor", "cookie", "accept"),
    anyString,
  ),
  value: fc.oneof(printable, hostileString),
  ofCall: fc.boolean(),
});

const reserved = /^(authorization|connection|content-length|content-type|host|transfer-encoding)$/i;

describe.each(transports)("over $name", ({ name: transport, options }) => {
  test(
    "a header arrives as it was given, or is refused",
    async () => {
      let sent = 0;
      await holdsFor(cases, 5_000, async ({ name, value, ofCall }) => {
        const headers = Object.fromEntries([[name, value]]);
        const client = ofCall ? plainClient(server.url, options) : undefined;
        const { value: response, error } = await settled(() =>
          client
            ? client.rerank(body, { headers })
            : plainClient(server.url, { ...options, headers }).rerank(body),
        );
        const usable = /^[\t -~]{0,8192}$/.test(value) && /^[!#$%&'*+.^_`|~\w-]{1,256}$/.test(name);
        assert.equal(error === undefined, usable && !reserved.test(name), error?.message);
        if (error !== undefined) {
          assert.ok(error.code === "INVALID_ARGUMENT" && error.executed === "no");
          return;
        }
        sent += 1;
        // Node's fetch loses it.
        if (transport === "fetch" && name === "__proto__") return;
        const received = (response as unknown as Echo).headers;
        // Space around a value is not part of it. (RFC 9110, 5.5.)
        assert.equal(received[name.toLowerCase()], value.replace(/^[\t ]+|[\t ]+$/g, ""));
        assert.match(received.authorization ?? "", /^Bearer \S+$/);
      });
      assert.ok(sent > 0);
    },
    within(300_000),
  );
});
