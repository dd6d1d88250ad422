// The operations that the mock server carries out with hand-written code. All others respond with the contract's
// example.
import { invalid } from "../errors/statusError.js";
import { type OperationId, operations } from "../generated/contract.js";
import type {
  DatasetFile,
  DeploymentScale,
  ReinforcementFineTuningJob,
  RerankRequest,
  RerankResponse,
} from "../generated/types.js";
import { Refusal } from "./mockResponse.js";
import type { MockState } from "./state.js";
import type { TestFile, TestOperation } from "./types.js";

/** The input of an operation: decoded ids, and a body and file that are valid by the contract. */
interface OperationRequest<Body = unknown> {
  readonly state: MockState;
  readonly ids: Readonly<Record<string, string>>;
  readonly body: Body;
  readonly file: TestFile | undefined;
}

/** Carries out an operation and returns the body of the response. @throws Refusal if the mock server rejects it */
type Behave<Body = unknown> = (request: OperationRequest<Body>) => object;

const model = "accounts/stand-in/models/shared-words";

/**
 * Ranks documents by the words that they share with the query: the cosine similarity of two sets, which is the number
 * of shared words, divided by the geometric mean of the sets' sizes. Words count as tokens; the words of the query count
 * once for each document.
 */
const rerank: Behave<RerankRequest> = ({ body }): RerankResponse => {
  const query = wordsOf(body.query);
  const asked = new Set(query);
  let tokens = 0;
  const data = body.documents.map((document, index) => {
    const words = wordsOf(document);
    const found = new Set(words);
    tokens += query.length + words.length;
    const shared = [...asked].filter((word) => found.has(word)).length;
    const relevance_score = shared && shared / Math.sqrt(asked.size * found.size);
    return { index, relevance_score, ...(body.return_documents !== false && { document }) };
  });
  data.sort((a, b) => b.relevance_score - a.relevance_score || a.index - b.index);
  return {
    object: "list",
    model: body.model ?? model,
    data: data.slice(0, body.top_n),
    usage: { prompt_tokens: tokens, total_tokens: tokens },
  };
};

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

const resume: Behave = ({ state: { options, jobs }, ids }): ReinforcementFineTuningJob => {
  const { account_id: account, reinforcement_fine_tuning_job_id: id = "" } = ids;
  const name = `accounts/${account}/reinforcementFineTuningJobs/${id}`;
  mustExist(name, options.jobs && Object.hasOwn(options.jobs, id));
  const job = jobs.get(name) ?? {
    displayName: id,
    createTime: new Date().toISOString(),
    dataset: `accounts/${account}/datasets/${id}`,
    evaluator: `accounts/${account}/evaluators/${id}`,
    state: "JOB_STATE_PAUSED",
    ...options.jobs?.[id],
    name,
  };
  const isPaused = job.state === "JOB_STATE_PAUSED";
  jobs.set(name, isPaused ? { ...job, state: "JOB_STATE_RUNNING" } : job);
  if (isPaused) return jobs.get(name) as ReinforcementFineTuningJob;
  throw new Refusal("FAILED_PRECONDITION", `The job is in the state ${job.state}, not JOB_STATE_PAUSED.`);
};

const scale: Behave<DeploymentScale> = ({ state: { options, deployments }, ids, body }) => {
  const { account_id: account, deployment_id: id = "" } = ids;
  const name = `accounts/${account}/deployments/${id}`;
  mustExist(name, options.deployments && Object.hasOwn(options.deployments, id));
  deployments.set(name, { name, replicaCount: body.replicaCount });
  return {};
};

/** Adds the file's name, type, size and hash to the dataset. The content is not kept. */
const upload: Behave = ({ state: { options, datasets, count }, ids, file }): DatasetFile => {
  const { account_id: account, dataset_id: id = "" } = ids;
  const name = `accounts/${account}/datasets/${id}`;
  mustExist(name, options.datasets?.includes(id));
  const stored = { id: `file-${++count.files}`, ...(file as TestFile) };
  datasets.set(name, { name, files: [...(datasets.get(name)?.files ?? []), stored] });
  return {
    id: stored.id,
    object: "file",
    bytes: stored.bytes,
    created_at: Math.floor(Date.now() / 1000),
    filename: stored.filename,
    purpose: "fine-tune",
  };
};

/** @throws Refusal unless the resource is listed; undefined if the options list none, so that each exists. */
function mustExist(name: string, isListed: boolean | undefined): void {
  if (isListed === false) throw new Refusal("NOT_FOUND", `There is no ${name}.`);
}

// The hand-written operations, each with the short name that tests use for it.
const behaviours: Partial<
  Record<OperationId, { readonly name: TestOperation; readonly run: Behave<never> }>
> = {
  resumeReinforcementFineTuningJob: { name: "resume", run: resume },
  rerankDocuments: { name: "rerank", run: rerank },
  scaleDeployment: { name: "scale", run: scale },
  uploadDatasetFile: { name: "upload", run: upload },
};

/** Carries out an operation; undefined for one without hand-written code. @throws Refusal if it is rejected */
export function carryOut(operation: OperationId, request: OperationRequest): object | undefined {
  return behaviours[operation]?.run(request as OperationRequest<never>);
}

/** The name that tests use for an operation: its short name, or its id if it has none. */
export function nameOf(operation: OperationId): TestOperation {
  return behaviours[operation]?.name ?? operation;
}

const ids = Object.keys(operations) as OperationId[];

export const testNames: readonly TestOperation[] = ids.map(nameOf);

export function findOperation(name: unknown): OperationId | undefined {
  return ids.find((id) => id === name || nameOf(id) === name);
}

/** The operation with this name or id. @throws StatusError if there is none */
export function operationOf(name: unknown): OperationId {
  const found = findOperation(name);
  if (found !== undefined) return found;
  throw invalid("operation", `operation must be one of ${testNames.join(", ")}, or an operation's id.`);
}
