import { createClient, isStatusError } from "tunerank";

const client = createClient();
const controller = new AbortController();
setTimeout(() => controller.abort(), 100);

try {
  await client.reinforcementFineTuningJobs.resume("answer-quality", {
    signal: controller.signal,
  });
} catch (error) {
  if (!isStatusError(error, "CANCELLED")) throw error;
  console.log(error.message);
  console.log(error.executed);
}
