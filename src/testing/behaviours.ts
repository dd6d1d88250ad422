// What the stand-in does where a person wrote it. Any other operation answers with the contract's example.
import { invalid } from "../errors/statusError.js";
import { type OperationId, operations } from "../generated/contract.js";
import type {
  DatasetFile,
  DeploymentScale,
  ReinforcementFineTuningJob,
  RerankRequest,
  RerankResponse,
} from "../generated/types.js";
import { Refusal } from "./standInAnswer.js";
import type { StandInState } from "./state.js";
import type { TestFile, TestOperation } from "./types.js";

/** What an operation works with: ids decoded, body and file as the contract wants them. */
interface OperationRequest<Body = unknown> {
  readonly state: StandInState;
  readonly id: (name: string) => string;
  readonly body: Body;
  readonly file: TestFile | undefined;
}

/** Carries an operation out and hands back the answer's body. @throws Refusal */
type Behave<Body = unknown> = (request: OperationRequest<Body>) => object;

const model = "accounts/stand-in/models/shared-words";

/** Ranks by shared words. Words stand in for tokens: the query's count once for each document. */
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

// The cosine of two sets: the words they share, over the geometric mean of their sizes.
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

/** Adds the file's facts to the dataset; its content is not kept. */
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

// With what tests call the operation.
const behaviours: Partial<
  Record<OperationId, { readonly name: TestOperation; readonly run: Behave<never> }>
> = {
  resumeReinforcementFineTuningJob: { name: "resume", run: resume },
  rerankDocuments: { name: "rerank", run: rerank },
  scaleDeployment: { name: "scale", run: scale },
  uploadDatasetFile: { name: "upload", run: upload },
};

const ids = Object.keys(operations) as OperationId[];

/** What tests call an operation: its id where it has no other name. */
export function nameOf(operation: OperationId): TestOperation {
  return behaviours[operation]?.name ?? operation;
}

export const testNames: readonly TestOperation[] = ids.map(nameOf);

export function findOperation(name: unknown): OperationId | undefined {
  return ids.find((id) => id === name || nameOf(id) === name);
}

/** The same. @throws StatusError where there is none */
export function operationOf(name: unknown): OperationId {
  const found = findOperation(name);
  if (found === undefined) throw invalid(`operation must be one of ${testNames.join(", ")}.`);
  return found;
}

/** Carries an operation out; undefined for one that nobody wrote. @throws Refusal */
export function carryOut(operation: OperationId, request: OperationRequest): object | undefined {
  return behaviours[operation]?.run(request as OperationRequest<never>);
}
