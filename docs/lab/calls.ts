// The calls that the lab begins with. A reader may change them.

/** An operation of the lab. */
export type LabOperation = keyof typeof calls;

export const calls = {
  rerank: `const { data } = await client.rerank({
  query: "capital of France",
  documents: ["Rome is in Italy.", "Paris, France."],
});
console.log("best:", data[0].index);`,
  upload: `const text = new Blob(['{"answer": 42}\\n']);
const file = await client.datasets.upload(
  "reviews", text, { name: "train.jsonl" });
console.log(file.id, file.bytes, "bytes");`,
  scale: `await client.deployments.scale("prod", 0);
console.log("scaled to zero");`,
  resume: `const jobs = client.reinforcementFineTuningJobs;
const job = await jobs.resume("job-1");
console.log(job.state);`,
};

/** The operations in the order in which the lab shows them: what may be repeated first. */
export const operations: readonly LabOperation[] = ["rerank", "scale", "resume", "upload"];
