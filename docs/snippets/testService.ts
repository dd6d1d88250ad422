import assert from "node:assert/strict";
import { createClient } from "tunerank";
import { createTestService } from "tunerank/testing";

const service = createTestService({ deployments: { prod: 1 } });
const client = createClient({
  baseUrl: "https://service.test",
  apiKey: "test-key",
  accountId: "acme",
  fetch: service.fetch,
});

await client.deployments.scale("prod", 3);
assert.equal(
  service.deployments.get("accounts/acme/deployments/prod")?.replicaCount,
  3,
);
await assert.rejects(client.deployments.scale("missing", 1), {
  code: "NOT_FOUND",
  executed: "no",
});
