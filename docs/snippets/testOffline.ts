import { createClient } from "tunerank";
import { createTestService } from "tunerank/testing";

const service = createTestService();
const address = { baseUrl: "https://service.test", apiKey: "test-key" };
const client = createClient({ ...address, fetch: service.fetch });

await client.rerank({ query: "capital", documents: ["Rome", "Paris"] });
