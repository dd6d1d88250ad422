import { createClient } from "tunerank";
import { MockAgent } from "undici";

const mocks = new MockAgent();
mocks.disableNetConnect();
mocks
  .get("https://service.test")
  .intercept({ path: "/inference/v1/rerank", method: "POST" })
  .reply(200, { data: [{ index: 0, relevance_score: 0.9 }] });

const address = { baseUrl: "https://service.test", apiKey: "test-key" };
const client = createClient({ ...address, dispatcher: mocks });

await client.rerank({ query: "capital", documents: ["Paris"] });
mocks.assertNoPendingInterceptors();
