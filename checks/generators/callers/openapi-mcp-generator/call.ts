// Calls the tools of the server that openapi-mcp-generator made, through a client of MCP, over stdio.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const {
  TUNERANK_BASE_URL = "",
  TUNERANK_API_KEY = "",
  TUNERANK_JOBS = "",
  TUNERANK_ERRORS = "",
  PATH = "",
} = process.env;
const client = new Client({ name: "call", version: "1.0.0" });
const env = { PATH, API_BASE_URL: TUNERANK_BASE_URL, BEARER_TOKEN_BEARERAUTH: TUNERANK_API_KEY };
const args = [new URL("client/build/index.js", import.meta.url).pathname];
await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: "ignore" }));

const { tools } = await client.listTools();
if (tools.length !== 4) throw new Error(`${tools.length} tools`);
if (JSON.stringify(tools).includes("Not stated")) throw new Error("a model reads what is not stated");

/** What a tool answers: its status, and its body, which it cuts off where it is long and an error. */
async function call(name: string, args: Record<string, unknown>) {
  const { content } = await client.callTool({ name, arguments: args });
  const { text } = (content as { text: string }[])[0] ?? { text: "" };
  const [, ok, body = ""] = /^API Response \(Status: (\d+)\):\n(.*)$/s.exec(text) ?? [];
  if (ok !== undefined) return { status: Number(ok), body: JSON.parse(body) };
  const [, status, rest = ""] = /^API Error: Status (\d+) .*?\. Response: (.*)$/s.exec(text) ?? [];
  if (status === undefined)
    return { status: Number(/^API Error: Status (\d+)/.exec(text)?.[1] ?? text) || text };
  return {
    status: Number(status),
    body: rest.startsWith("{") && rest.endsWith("}") ? JSON.parse(rest) : rest,
  };
}

// Without its body, which the tool sends by its default.
async function resume(id: string) {
  const { body: job } = await call("resumeReinforcementFineTuningJob", {
    account_id: "acme",
    reinforcement_fine_tuning_job_id: id,
  });
  return {
    state: job.state ?? null,
    code: job.status?.code ?? null,
    percent: job.jobProgress?.percent ?? null,
    displayName: job.displayName ?? null,
    minLrRatio: job.trainingConfig?.lrScheduler?.cosine?.minLrRatio ?? null,
    acceleratorSeconds: job.acceleratorSeconds?.["accelerator-type-a"] ?? null,
  };
}

function scale(id: string, replicaCount: number) {
  return call("scaleDeployment", { account_id: "acme", deployment_id: id, requestBody: { replicaCount } });
}

const resumed = await resume("answer-quality");
const { body: ranked } = await call("rerankDocuments", {
  requestBody: {
    query: "capital of France",
    documents: ["Rome.", "Lyon.", "Paris."],
    model: "accounts/acme/models/reranker-small",
    top_n: 3,
    return_documents: true,
    task: "Find the capital.",
  },
});
const [best] = ranked.data;
const { body: scaled } = await scale("support-search", 2);
const missing = await scale("missing", 0);
const jobs: Record<string, unknown> = {};
for (const id of TUNERANK_JOBS.split(",")) {
  jobs[id] = await resume(id).catch((reason: unknown) => ({ failed: String(reason) }));
}
const errors: unknown[] = [];
for (let row = 0; row < Number(TUNERANK_ERRORS); row++) errors.push((await scale(`error-${row}`, 0)).status);
await client.close();

console.log(
  JSON.stringify({
    resume: resumed,
    rerank: { index: best.index, relevanceScore: best.relevance_score, document: best.document },
    scale: scaled,
    error: { status: missing.status, code: missing.body?.code },
    jobs,
    errors,
  }),
);
