import { isDeepStrictEqual } from "node:util";
import { createClient, isStatusError, type ReinforcementFineTuningJob } from "../../../src/index.js";
import type { RecordedRequest } from "./recordingMock.js";
import type { Operation } from "./tool.js";

/** What two clients must send alike. */
export interface Essence {
  readonly method: string;
  readonly url: string;
  readonly authorization: string | undefined;
  readonly mediaType: string | undefined;
  readonly body: unknown;
}

/** The parts of a request that do not depend on who sent it: no boundary, no spacing, no user agent. */
export async function essenceOf({ method, url, headers, body }: RecordedRequest): Promise<Essence> {
  const contentType = headers["content-type"] ?? "";
  const mediaType = contentType.split(";")[0]?.trim().toLowerCase();
  const { authorization } = headers;
  const read = mediaType === "multipart/form-data" ? readForm(contentType, body) : readJson(body);
  return { method, url, authorization, mediaType, body: await read };
}

/** What differs between two values, one line for each of their members. */
export function differences(expected: object, actual: object): string[] {
  const wanted = Object.entries(expected);
  const got = new Map(Object.entries(actual));
  return wanted
    .filter(([key, value]) => !isDeepStrictEqual(value, got.get(key)))
    .map(([key, value]) => `${key}: expected ${show(value)}, got ${show(got.get(key))}`);
}

async function readJson(body: Buffer<ArrayBuffer>): Promise<unknown> {
  try {
    return JSON.parse(body.toString());
  } catch {
    return { notJson: body.toString() };
  }
}

// The file's name is not compared: how a client takes a file is its own affair. That it is a file is.
async function readForm(contentType: string, body: Buffer<ArrayBuffer>): Promise<unknown> {
  const form = await new Response(body, { headers: { "content-type": contentType } }).formData();
  const parts = [...form].map(async ([name, value]) =>
    typeof value === "string" ? { name, value } : { name, bytes: Buffer.from(await value.arrayBuffer()) },
  );
  return Promise.all(parts);
}

function show(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 300) ?? "nothing";
}

/** What a caller read of a job; null where the job has no such field. */
export type JobReading = Readonly<Record<string, unknown>>;

/** What a caller understood of each response, of the one failure, of the jobs and of the error responses. */
export interface Readings extends Readonly<Record<Operation | "error", unknown>> {
  readonly jobs: Readonly<Record<string, JobReading>>;
  /** The status of each error response, or what stands in its place. */
  readonly errors: readonly unknown[];
}

type Env = Readonly<Record<string, string>>;
type OwnClient = ReturnType<typeof createClient>;

/** The calls that every caller makes, made by our own client: the others are compared with these. */
export async function makeOwnCalls(env: Env): Promise<Readings> {
  const { TUNERANK_BASE_URL: baseUrl = "", TUNERANK_API_KEY: apiKey = "", TUNERANK_FILE: file = "" } = env;
  await using client = createClient({ baseUrl, apiKey, accountId: "acme", maxRetries: 0 });
  const job = await client.reinforcementFineTuningJobs.resume("answer-quality");
  const ranked = await client.rerank({
    query: "capital of France",
    documents: ["Rome.", "Lyon.", "Paris."],
    model: "accounts/acme/models/reranker-small",
    top_n: 3,
    return_documents: true,
    task: "Find the capital.",
  });
  await client.deployments.scale("support-search", 2);
  const stored = await client.datasets.upload("support-answers", file);
  const missing = await failureOf(client, "missing");
  const [best] = ranked.data;
  return {
    resume: readJob(job),
    rerank: { index: best?.index, relevanceScore: best?.relevance_score, document: best?.document },
    scale: {},
    upload: { filename: stored.filename, bytes: stored.bytes },
    error: { status: missing.httpStatus, code: missing.code },
    ...(await readOthers(client, env)),
  };
}

async function readOthers(client: OwnClient, env: Env): Promise<Pick<Readings, "jobs" | "errors">> {
  const jobs: Record<string, JobReading> = {};
  for (const id of env.TUNERANK_JOBS?.split(",") ?? []) {
    jobs[id] = readJob(await client.reinforcementFineTuningJobs.resume(id));
  }
  const errors: unknown[] = [];
  for (let row = 0; row < Number(env.TUNERANK_ERRORS); row++) {
    errors.push((await failureOf(client, `error-${row}`)).httpStatus);
  }
  return { jobs, errors };
}

function readJob(job: ReinforcementFineTuningJob): JobReading {
  return {
    state: job.state ?? null,
    code: job.status?.code ?? null,
    percent: job.jobProgress?.percent ?? null,
    displayName: job.displayName ?? null,
    minLrRatio: job.trainingConfig?.lrScheduler?.cosine?.minLrRatio ?? null,
    acceleratorSeconds: job.acceleratorSeconds?.["accelerator-type-a"] ?? null,
  };
}

async function failureOf(client: OwnClient, deployment: string) {
  const error = await client.deployments.scale(deployment, 0).catch((reason: unknown) => reason);
  if (!isStatusError(error)) throw new Error("The mock did not refuse.", { cause: error });
  return error;
}
