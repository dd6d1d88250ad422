import { afterAll, beforeAll, expect, test } from "vitest";
import { countConnections, routes } from "../support/connectionCounts.js";
import { expectNothingUnhandled } from "../support/unhandled.js";

expectNothingUnhandled();

const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
beforeAll(() => {
  Object.assign(process.env, { NODE_TLS_REJECT_UNAUTHORIZED: "0", TUNERANK_API_KEY: "test-key-0123" });
});
afterAll(() => {
  delete process.env.TUNERANK_API_KEY;
  if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
});

// Whatever the server's speed: the whole table is in test/all.
test.each(routes.flatMap((route) => [1, 16].map((inFlight) => ({ route, inFlight }))))(
  "over TLS, by $route, $inFlight calls at a time to a server that responds at once use as many connections",
  async ({ route, inFlight }) => {
    const { accepted } = await countConnections({ secure: true, route, inFlight, delayMs: 0 }, 200);
    expect(accepted).toBe(inFlight);
  },
);
