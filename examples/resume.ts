// Resumes a job, and says so when the job itself reports a failure.
import { createClient, isStatusError, throwIfFailed } from "tunerank";

const client = createClient();
try {
  const job = await client.reinforcementFineTuningJobs.resume("answer-quality");
  throwIfFailed(job);
  console.log(job.name, job.state);
} catch (error) {
  if (!isStatusError(error)) throw error;
  console.error(error.message, error.hint);
  if (error.executed === "unknown") console.error("Look at the job before resuming it again.");
}
