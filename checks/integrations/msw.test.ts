import assert from "node:assert/strict";
import { test } from "node:test";
import { HttpResponse, http } from "msw";
import { setupServer } from "msw/node";
import { createClient } from "tunerank";
import { describeMsw, everything } from "./support/mswBehaviour.ts";

describeMsw("MSW 3", (respond) => setupServer(http.all(everything, ({ request }) => respond(request))));

test("MSW 3 takes an upload that its handler does not read", async (t) => {
  const server = setupServer(http.post(everything, () => HttpResponse.json({ id: "file-1" })));
  server.listen();
  t.after(() => server.close());
  const client = createClient({ baseUrl: "https://service.test", apiKey: "test-key", accountId: "acme" });
  const file = new Uint8Array(5_000_000);
  const stored = await client.datasets.upload("reviews", file, { name: "train.jsonl" });
  assert.equal(stored.id, "file-1");
});
