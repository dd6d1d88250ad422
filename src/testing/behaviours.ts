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
  readonly id: (name: string) => string;
  readonly body: Body;
  readonly file: TestFile | undefined;
}

/** Carries out an operation and returns the body of the response. @throws Refusal if the mock server rejects it */
type Behave<Body = unknown> = (request: OperationRequest<Body>) => object;

const model = "accounts/stand-in/models/shared-words";

/**
 * Ranks documents by the words that they share with the query. Words count as tokens; the words of the query count once
 * for each document.
 */
const rerank: Behave<RerankRequest> = ({ body }): RerankResponse => {
  const query = wordsOf(body.query);
  const asked = new Set(query);
  let tokens = 0;
  const data = body.documents.map((document, index) => {
    const words = wordsOf(document);
    tokens += query.length + words.length;
    const relevance_score = score(asked, new Set(words));
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

// The cosine similarity of two sets: the number of shared words, divided by the geometric mean of the sets' sizes.
function score(query: ReadonlySet<string>, document: ReadonlySet<string>): number {
  let shared = 0;
  for (const word of query) if (document.has(word)) shared++;
  return shared === 0 ? 0 : shared / Math.sqrt(query.size * document.size);
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

const resume: Behave = ({ state, id }): ReinforcementFineTuningJob => {
  const job = state.job(id("account_id"), id("reinforcement_fine_tuning_job_id"));
  if (job.state !== "JOB_STATE_PAUSED") {
    throw new Refusal("FAILED_PRECONDITION", `The job is in the state ${job.state}, not JOB_STATE_PAUSED.`);
  }
  const resumed = { ...job, state: "JOB_STATE_RUNNING" } as const;
  state.jobs.set(job.name as string, resumed);
  return resumed;
};

const scale: Behave<DeploymentScale> = ({ state, id, body }) => {
  const { name } = state.deployment(id("account_id"), id("deployment_id"));
  state.deployments.set(name, { name, replicaCount: body.replicaCount });
  return {};
};

/** Adds the file's name, type, size and hash to the dataset. The content is not kept. */
const upload: Behave = ({ state, id, file }): DatasetFile => {
  const dataset = state.dataset(id("account_id"), id("dataset_id"));
  const stored = { id: state.nextFileId(), ...(file as TestFile) };
  state.addFile(dataset, stored);
  return {
    id: stored.id,
    object: "file",
    bytes: stored.bytes,
    created_at: Math.floor(Date.now() / 1000),
    filename: stored.filename,
    purpose: "fine-tune",
  };
};

// The hand-written operations, each with the short name that tests use for it.
const behaviours: Partial<
  Record<OperationId, { readonly name: TestOperation; readonly run: Behave<never> }>
> = {
  resumeReinforcementFineTuningJob: { name: "resume", run: resume },
  rerankDocuments: { name: "rerank", run: rerank },
  scaleDeployment: { name: "scale", run: scale },
  uploadDatasetFile: { name: "upload", run: upload },
};

const ids = Object.keys(operations) as OperationId[];

/** The name that tests use for an operation: its short name, or its id if it has none. */
export function nameOf(operation: OperationId): TestOperation {
  return behaviours[operation]?.name ?? operation;
}

export const testNames: readonly TestOperation[] = ids.map(nameOf);

export function findOperation(name: unknown): OperationId | undefined {
  return ids.find((id) => id === name || nameOf(id) === name);
}

/** The operation with this name or id. @throws StatusError if there is none */
export function operationOf(name: unknown): OperationId {
  const found = findOperation(name);
  if (found === undefined)
    throw invalid("operation", `operation must be one of ${testNames.join(", ")}, or an operation's id.`);
  return found;
}

/**
 * Carries out an operation; undefined for one without hand-written code.
 * @throws Refusal if the mock server rejects it
 */
export function carryOut(operation: OperationId, request: OperationRequest): object | undefined {
  return behaviours[operation]?.run(request as OperationRequest<never>);
}
