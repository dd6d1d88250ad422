// A test of one's own code against the test service: two failures, then the response.
import assert from "node:assert/strict";
import { createClient } from "tunerank";
import { createTestService } from "tunerank/testing";

const service = createTestService();
service.fail("rerank", { status: 503, code: "UNAVAILABLE", times: 2 });
const client = createClient({ baseUrl: "https://service.test", apiKey: "test-key", fetch: service.fetch });
const { data } = await client.rerank({ query: "Paris", documents: ["Rome.", "Paris."] });
assert.equal(data[0]?.index, 1);
assert.equal(service.requests.length, 3);
console.log("three requests, one response");
