import { createClient } from "tunerank";
import { createTestService } from "tunerank/testing";

const service = createTestService({ apiKey: "test-key" });
const server = await service.listen();

const client = createClient({
  baseUrl: server.url,
  apiKey: "test-key",
  accountId: "acme",
});
const job =
  await client.reinforcementFineTuningJobs.resume("answer-quality");
console.log(job.state, service.requests[0]?.path);

await client.close();
await server.close();
