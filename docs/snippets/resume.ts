import { createClient, throwIfFailed } from "tunerank";

const client = createClient();

const job =
  await client.reinforcementFineTuningJobs.resume("answer-quality");
throwIfFailed(job);

console.log(
  `${job.displayName}: ${job.state}, ${job.jobProgress?.percent} % done`,
);
for (const [accelerator, seconds] of Object.entries(
  job.acceleratorSeconds ?? {},
)) {
  console.log(accelerator, BigInt(seconds) / 3600n, "hours");
}
