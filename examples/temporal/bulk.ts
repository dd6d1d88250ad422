import { readdir } from "node:fs/promises";
import type { rerankMany } from "tunerank/temporal/workflows";
import { client, connection } from "./temporal.js";

const reference = "requests";
const chunks = (await readdir(reference)).filter((name) => /^\d+\.json$/.test(name)).length;
const { ranked, failed } = await client.workflow.execute<typeof rerankMany>("rerankMany", {
  taskQueue: "tunerank",
  workflowId: `rank-${reference}`,
  // 95 % of what the service allows all workers together.
  args: [{ chunks, reference, rate: { requestsPerMinute: 1140 } }],
});
console.log(`${ranked} ranked, ${failed} failed`);
await connection.close();
