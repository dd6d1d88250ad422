// Runs the operations against the mock; --file FILE uploads a file of one's own,
// --query TEXT --documents FILE ranks lines of one's own.
import { readFile, stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { parse } from "yaml";
import { createClient, isStatusError, type RerankRequest, type UploadProgress } from "../../src/index.js";
import { createTestService } from "../../src/testing/index.js";
import { startMock } from "../mock.js";

const { values } = parseArgs({
  options: { file: { type: "string" }, query: { type: "string" }, documents: { type: "string" } },
});
if (values.query !== undefined || values.documents !== undefined) {
  await rankOwnDocuments(values);
  process.exit();
}
const file = values.file ?? fileURLToPath(new URL("../../examples/train.jsonl", import.meta.url));

console.log(
  "Starting the mock. It responds to every request with the contract's examples, whatever is sent.\n",
);
const mock = await startMock();
const client = createClient({ baseUrl: mock.url, apiKey: "demo-key", accountId: "acme" });
try {
  await upload(file);
  await rerank(await rerankExample());
  await scale(2);
  await scale(0);
  await resume();
  await failure();
} catch (error) {
  if (!isStatusError(error)) throw error;
  console.error(error.message);
  process.exitCode = 1;
} finally {
  await mock.stop();
}

async function upload(path: string): Promise<void> {
  heading(`datasets.upload("reviews", "${path.split(/[/\\]/).pop()}")`);
  const show = ({ sentBytes, totalBytes = 0 }: UploadProgress): void => {
    const percent = totalBytes === 0 ? 100 : Math.round((100 * sentBytes) / totalBytes);
    progress(`  sent ${sentBytes} of ${totalBytes} bytes (${percent} %)`);
  };
  const stored = await client.datasets.upload("reviews", path, { onProgress: show });
  console.log(
    `\n  the mock's example response: ${stored.filename}, ${stored.bytes} bytes (the file has ${(await stat(path)).size})\n`,
  );
}

async function rerank(body: RerankRequest): Promise<void> {
  heading(`rerank({ query: "${body.query}", ... ${body.documents.length} documents })`);
  const { data } = await client.rerank(body);
  console.log("  the mock's example response; its scores are not computed:");
  const bars = scoreBars(data.map(({ relevance_score }) => relevance_score));
  for (const [place, { index }] of data.entries()) {
    console.log(`  ${bars[place]}  ${body.documents[index]}`);
  }
  console.log();
}

async function scale(replicaCount: number): Promise<void> {
  heading(`deployments.scale("prod", ${replicaCount})`);
  const { httpStatus } = await client.deployments.scale("prod", replicaCount).withResponse();
  console.log(`  accepted (HTTP ${httpStatus})\n`);
}

async function resume(): Promise<void> {
  heading('reinforcementFineTuningJobs.resume("answer-quality")');
  const job = await client.reinforcementFineTuningJobs.resume("answer-quality");
  console.log(
    `  the mock's example response: ${job.displayName}: ${job.state}, ${job.jobProgress?.percent} % done\n`,
  );
}

async function failure(): Promise<void> {
  heading('deployments.scale("missing", 1), with the mock told to refuse');
  try {
    await client.deployments.scale("missing", 1, { headers: { prefer: "code=404" } });
  } catch (error) {
    if (!isStatusError(error)) throw error;
    console.log(`  ${error.message}`);
    console.log(
      `  executed: "${error.executed}" (${error.executedBecause})  httpStatus: ${error.httpStatus}  codeSource: "${error.codeSource}"`,
    );
  }
}

function heading(text: string): void {
  console.log(`client.${text}`);
}

// On a terminal the line is drawn over; in a log each stands alone.
function progress(line: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\r${line}`);
  else console.log(line);
}

/** The request example of the contract's rerank operation. */
async function rerankExample(): Promise<RerankRequest> {
  const text = await readFile(new URL("../../openapi.yaml", import.meta.url), "utf8");
  const media = parse(text).paths["/inference/v1/rerank"].post.requestBody.content["application/json"];
  const [example] = Object.values(media.examples as Record<string, { value: RerankRequest }>);
  if (example === undefined) throw new Error("The contract has no example of a rerank request.");
  return example.value;
}

/** Ranks the lines of a file with the test service of `tunerank/testing`: the mock responds only with examples. */
async function rankOwnDocuments(given: {
  query?: string | undefined;
  documents?: string | undefined;
}): Promise<void> {
  const { query, documents } = given;
  if (query === undefined || documents === undefined) {
    console.error("--query TEXT and --documents FILE go together.");
    process.exitCode = 2;
    return;
  }
  const text = await readFile(documents, "utf8").catch((error: Error) => {
    console.error(`--documents cannot be read: ${error.message}`);
    process.exitCode = 2;
  });
  if (text === undefined) return;
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  console.log(
    "Starting the test service of tunerank/testing. It ranks by shared words, as no real model does.\n",
  );
  const server = await createTestService().listen();
  try {
    const client = createClient({ baseUrl: server.url, apiKey: "demo-key" });
    console.log(`client.rerank.items(${JSON.stringify(query)}, ... ${lines.length} lines)`);
    const ranked = await client.rerank.items(query, lines, { text: (line) => line });
    const bars = scoreBars(ranked.map(({ score }) => score));
    for (const [index, { item }] of ranked.entries()) console.log(`  ${bars[index]}  ${item}`);
  } finally {
    await server.close();
  }
}

/** Each score as a bar and a number; the longest bar is the best score. */
function scoreBars(scores: readonly number[]): string[] {
  const best = Math.max(...scores);
  return scores.map((score) => {
    const filled = Math.round((Math.max(0, score) / (best || 1)) * 20);
    return `${"█".repeat(filled).padEnd(20, "░")} ${score.toFixed(3)}`;
  });
}
