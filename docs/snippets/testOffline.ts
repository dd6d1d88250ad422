import { createClient } from "tunerank";
import { createTestService } from "tunerank/testing";

const service = createTestService();
const address = { baseUrl: "https://service.test", apiKey: "test-key" };
export const client = createClient({ ...address, fetch: service.fetch });
