import assert from "node:assert/strict";
import fc, { type Arbitrary } from "fast-check";
import { describe, test } from "vitest";
import { httpStatuses } from "../../../src/generated/contract.js";
import { transports } from "../../support/clients.js";
import {
  anyString,
  base64,
  hides,
  holdsFor,
  hostileString,
  plainClient,
  settled,
  visible,
  within,
} from "./support/runs.js";
import { asking, isRefusal, useEchoServer } from "./support/services.js";

describe("an error body", () => {
  const server = useEchoServer();

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
        await holdsFor(cases, 5_000, async ({ status, type, body, key, echoed }) => {
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
