// Ranks items in batches. Loaded with the first `rerank.items`.
import { traced } from "#platform";
import { deadlines } from "../call/decisions.js";
import type { LateSettings } from "../call/lateSettings.js";
import { callSettings } from "../call/settings.js";
import { invalid } from "../errors/statusError.js";
import { requests } from "../generated/contract.js";
import type { RerankRequest } from "../generated/types.js";
import { checkInteger, ownProperties } from "../options/arguments.js";
import type { Names } from "../options/names.js";
import { type AbortSignalLike, type CallOptions, callOptionNames } from "../options/options.js";
import { validate } from "../options/validate.js";
import { errorOfBatches, RequestsMade } from "./batchFailure.js";
import { checkTexts } from "./itemTexts.js";
import { type DoneBatch, mergeRankings, type RerankItemsResponse } from "./mergeRankings.js";
import { readRanking } from "./readRanking.js";
import type { RerankCall, RerankItemsOptions } from "./rerankItems.js";
import { runBatches } from "./runBatches.js";

const { body: rules } = requests.rerankDocuments;

const setByItems: ReadonlySet<string> = new Set(["query", "documents", "top_n", "return_documents"]);
const fieldNames = Object.keys(rules.properties).filter((name) => !setByItems.has(name));
const optionNames: Names<RerankItemsOptions<unknown>> = {
  ...callOptionNames,
  text: 1,
  topN: 1,
  batchSize: 1,
  concurrency: 1,
  // What the contract adds to a rerank is passed on by itself.
  ...(Object.fromEntries(fieldNames.map((name) => [name, 1])) as Names<
    Pick<RerankItemsOptions<unknown>, "model" | "task">
  >),
};

/**
 * Ranks items, in one request or in batches.
 * @param items Copied from the caller's, as the options are. @throws StatusError
 */
export async function rankItems<T>(
  rerank: RerankCall,
  query: string,
  items: readonly T[],
  options: RerankItemsOptions<T>,
): Promise<RerankItemsResponse<T>> {
  const own = ownProperties(options, "options", optionNames);
  return rankTraced(planOf(query, items, own, rerank.client), rerank);
}

// A call that is checked and ready to be made.
interface Plan<T> {
  readonly items: readonly T[];
  readonly body: Omit<RerankRequest, "documents">;
  readonly options: RerankItemsOptions<T>;
  readonly textsOf: (batch: number) => string[];
  readonly batchSize: number;
  readonly batches: number;
  readonly concurrency: number;
  readonly signal: AbortSignalLike | undefined;
  /** The most milliseconds for one batch. */
  readonly eachMs: number;
  readonly endsAt: number;
}

function planOf<T>(
  query: string,
  items: readonly T[],
  own: RerankItemsOptions<T>,
  client: LateSettings,
): Plan<T> {
  if (!Array.isArray(items)) throw invalid("items must be a list.");
  const { topN } = own;
  const body = { ...fieldsOf(own), query, top_n: undefined, return_documents: false };
  validate({ ...body, documents: [""] }, rules, "body");
  if (topN !== undefined) validate(topN, rules.properties.top_n, "topN");
  const batchSize = checkInteger(own.batchSize ?? Math.max(1, items.length), "batchSize", 1);
  const concurrency = checkInteger(own.concurrency ?? 4, "concurrency", 1);
  const textsOf = checkTexts(items, own.text, batchSize);
  const batches = Math.ceil(items.length / batchSize);
  const { signal, timeoutMs } = callSettings(client, own);
  const eachMs = timeoutMs ?? deadlines.rerankDocuments.timeoutMs;
  const endsAt = performance.now() + (timeoutMs ?? eachMs * Math.ceil(batches / concurrency));
  return { items, body, options: own, textsOf, batchSize, batches, concurrency, signal, eachMs, endsAt };
}

// Several requests are calls within this one; one alone is the call itself.
function rankTraced<T>(plan: Plan<T>, rerank: RerankCall): Promise<RerankItemsResponse<T>> {
  const { items, batches, body } = plan;
  const rank = () => rankBatches(plan, rerank);
  if (batches < 2) return rank();
  const target = {
    operation: "rerankDocuments",
    documents: items.length,
    batches,
    model: body.model,
  } as const;
  return traced(
    () => target,
    rank,
    ({ model, usage }) => ({ model, usage }),
  );
}

async function rankBatches<T>(plan: Plan<T>, rerank: RerankCall): Promise<RerankItemsResponse<T>> {
  const { items, batchSize, batches, concurrency, options } = plan;
  const done: DoneBatch[] = [];
  const made = new RequestsMade();
  const failed = await runBatches(batches, concurrency, plan.signal, async (batch, signal) => {
    try {
      const ranked = await rankBatch(plan, rerank, batch, signal);
      made.add(ranked.attempts, { executed: "yes", executedBecause: "success-began" });
      done.push(ranked);
    } catch (error) {
      made.addFailed(error);
      throw error;
    }
  });
  if (failed === undefined) return mergeRankings(items, done, options.topN);
  const offset = failed.batch * batchSize;
  throw errorOfBatches(failed.error, { offset, count: Math.min(batchSize, items.length - offset) }, made);
}

async function rankBatch<T>(
  { body, options, textsOf, batchSize, eachMs, endsAt }: Plan<T>,
  rerank: RerankCall,
  batch: number,
  signal: AbortSignalLike,
): Promise<DoneBatch> {
  const leftMs = Math.max(1, Math.ceil(endsAt - performance.now()));
  // Nothing is inherited: a polluted prototype sets no option.
  const call: CallOptions = Object.assign(Object.create(null), options, {
    signal,
    timeoutMs: Math.min(eachMs, leftMs),
  });
  const documents = textsOf(batch);
  const offset = batch * batchSize;
  const { data, answer, attempts } = await rerank.send({ ...body, documents }, call, (value) =>
    readRanking(value, documents, offset),
  );
  return { offset, ranking: data, attempts, headers: answer.headers };
}

/** The options that are fields of the request's body. */
function fieldsOf(own: object): Partial<RerankRequest> {
  return Object.fromEntries(Object.entries(own).filter(([name]) => Object.hasOwn(rules.properties, name)));
}
