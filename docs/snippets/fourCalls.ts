import { createClient } from "tunerank";

const client = createClient();
const file = "examples/train.jsonl";
const documents = [
  "A password needs twelve characters.",
  "Choose Reset on the sign-in page.",
];
const onProgress = ({ sentBytes }: { sentBytes: number }) =>
  console.log(sentBytes, "bytes sent");

// #region calls
const { data } = await client.rerank({
  query: "I forgot my password",
  documents,
});

await client.datasets.upload("reviews", file, { onProgress });

await client.deployments.scale("support-search", 0);

const job = await client.reinforcementFineTuningJobs.resume("job-1");
// #endregion calls

console.log(data[0]?.relevance_score, job.state);
