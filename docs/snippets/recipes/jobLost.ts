import {
  createClient,
  isStatusError,
  type ReinforcementFineTuningJob,
} from "tunerank";

const client = createClient();
const job = "answer-quality";

// A guess: no operation that reads a job is documented.
const read = {
  method: "GET",
  path: `/v1/accounts/acme/reinforcementFineTuningJobs/${job}`,
} as const;

try {
  await client.reinforcementFineTuningJobs.resume(job);
} catch (error) {
  // "no": nothing was sent, or the service refused.
  if (!isStatusError(error) || error.executed === "no") throw error;
  const found = await client.request<ReinforcementFineTuningJob>(read);
  console.log("The answer was lost. The job:", found.state);
}
