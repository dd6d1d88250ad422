// The calls that the lab makes: those of the client, and the same ones with `fetch`.

/** An operation of the lab. */
export type LabOperation = keyof typeof calls;

export const calls = {
  upload: `const text = new Blob(['{"answer": 42}\\n']);
const file = await client.datasets.upload(
  "reviews", text, { name: "train.jsonl" });
console.log(file.id, file.bytes, "bytes");`,
  resume: `const jobs = client.reinforcementFineTuningJobs;
const job = await jobs.resume("job-1");
console.log(job.state);`,
  rerank: `const { data } = await client.rerank({
  query: "capital of France",
  documents: ["Rome is in Italy.", "Paris, France."],
});
console.log("best:", data[0].index);`,
};

/** The operations that some page shows. */
export const operations: readonly LabOperation[] = ["upload", "resume", "rerank"];

/** The loop that people write around `fetch`, as the lab shows and runs it. */
export const loop = `async function send(url, init) {
  for (let attempt = 1; ; attempt++) {
    const signal = AbortSignal.timeout(1000);
    try {
      const answer = await fetch(url, { ...init, signal });
      const { status } = answer;
      const again = status === 429 || status >= 500;
      if (!again || attempt === 3) return answer;
    } catch (error) {
      if (attempt === 3) throw error;
    }
    await sleep(400 * attempt);
  }
}`;

const account = "https://service.test/v1/accounts/acme";
const json = `headers: { ...auth, "content-type": "application/json" }`;
const check = `if (!answer.ok) throw new Error(\`HTTP \${answer.status}\`);`;

/** The same calls by way of the loop. */
export const loopCalls: Readonly<Record<LabOperation, string>> = {
  upload: `const body = new FormData();
const text = new Blob(['{"answer": 42}\\n']);
body.append("file", text, "train.jsonl");
const answer = await send(
  "${account}/datasets/reviews:upload",
  { method: "POST", headers: auth, body },
);
${check}
const file = await answer.json();
console.log(file.id, file.bytes, "bytes");`,
  resume: `const answer = await send(
  "${account}/reinforcementFineTuningJobs/job-1:resume",
  { method: "POST", ${json}, body: "{}" },
);
${check}
console.log((await answer.json()).state);`,
  rerank: `const body = JSON.stringify({
  query: "capital of France",
  documents: ["Rome is in Italy.", "Paris, France."],
});
const answer = await send(
  "https://service.test/inference/v1/rerank",
  { method: "POST", ${json}, body },
);
${check}
console.log("best:", (await answer.json()).data[0].index);`,
};
