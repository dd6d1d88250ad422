import {
  createClient,
  type ReinforcementFineTuningJob as Job,
  throwIfFailed,
} from "tunerank";

const client = createClient();
const name = "answer-quality";
// A guess: no operation that reads a job is documented.
const path = `/v1/accounts/acme/reinforcementFineTuningJobs/${name}`;

// The states whose names say that the job has ended.
const ended = /COMPLETED|FAILED|CANCELLED|EXPIRED|STOPPED|DELETED|ARCHIVED/;
const aMinute = () => new Promise((go) => setTimeout(go, 60_000));

let job: Job = await client.reinforcementFineTuningJobs.resume(name);
for (;;) {
  console.log(job.state, `${job.jobProgress?.percent ?? "?"} %`);
  if (ended.test(job.state ?? "")) break;
  await aMinute();
  job = await client.request<Job>({ method: "GET", path });
}
throwIfFailed(job);
