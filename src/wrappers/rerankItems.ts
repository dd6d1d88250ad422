import { traced } from "#platform";
import type { Unusable } from "../call/answer.js";
import { type Outcome, start } from "../call/callPromise.js";
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
import { type DoneBatch, mergeRankings, type RankedItem, type RerankItemsResponse } from "./mergeRankings.js";
import { readRanking } from "./readRanking.js";
import { runBatches } from "./runBatches.js";

const { body: rules } = requests.rerankDocuments;

/** Options of {@link RerankItems}: those of a call, its own, and the fields of a rerank that are passed on. */
export interface RerankItemsOptions<T>
  extends CallOptions,
    Omit<RerankRequest, "query" | "documents" | "top_n" | "return_documents"> {
  /**
   * The text the service is to rank an item by. Called for every item before anything is sent, and for those
   * after the first batch once more when they are, so that not all texts need be kept.
   */
  text: (item: T, index: number) => string;
  /** The name of the reranker model. @default the client's rerankModel */
  model?: string | undefined;
  /** Keep this many of the best: at least 1. Applied once, to all items together. @default all */
  topN?: number | undefined;
  /**
   * The most items of one request: at least 1. Their scores then come from several requests: they may be compared
   * only if your model scores each document by itself, whatever else is in its request. The service does not say so
   * of any model. @default all items in one request
   */
  batchSize?: number | undefined;
  /** How many batches are under way at once: at least 1. @default 4 */
  concurrency?: number | undefined;
  /**
   * Milliseconds for all batches together. Greater than 0.
   * @default 60,000 for one batch, and for all as often as `concurrency` batches fit into them
   */
  timeoutMs?: number | undefined;
}

const setByItems: ReadonlySet<string> = new Set(["query", "documents", "top_n", "return_documents"]);
const fieldNames = Object.keys(rules.properties).filter((name) => !setByItems.has(name));
const itemsOptionNames: Names<RerankItemsOptions<unknown>> = {
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

/** A running {@link RerankItems}: await it for the ranked items. */
export interface RerankItemsPromise<T> extends Promise<RankedItem<T>[]> {
  /** Resolves to the ranked items together with the model, the tokens used and the requests made. */
  withResponse(): Promise<RerankItemsResponse<T>>;
}

/** How {@link Rerank.items} is called. The contract's `rerankDocuments`. */
export interface RerankItems {
  /**
   * Ranks things of any kind by a text of each: hands them back best first, equal scores in the order of `items`.
   * The service is asked to send no documents back, and every index it names is checked. No items, no request.
   * An item the service leaves out is left out here. When one batch fails the call fails with its error and the other
   * batches are cancelled.
   *
   * @param query What the items are ranked for.
   * @param items The things to rank, of any type.
   * @param options How to get the text of an item, how many to keep, and what any call may set.
   * @throws StatusError `INVALID_ARGUMENT` or `OUT_OF_RANGE` before anything is sent; any code of the service;
   * `INTERNAL` with `executed: "yes"` for an answer that cannot be matched with the items. `executed` and `attempts` are
   * of all batches together: `"yes"` when any of them ran. The message names the item, `items[31]`, where the service
   * named a document of the batch, `documents[1]`; `body` is what the service said.
   * @example
   * const best = await client.rerank.items("capital of France", cities, { text: (city) => city.summary, topN: 3 });
   * best[0]?.item; // one of `cities`
   */
  // biome-ignore lint/style/useShorthandFunctionType: an editor shows what is said of a call signature
  <T>(query: string, items: readonly T[], options: RerankItemsOptions<T>): RerankItemsPromise<T>;
}

/** @internal The rerank call that {@link RerankItems} is made of. */
export interface RerankCall {
  readonly client: LateSettings;
  send<R>(
    body: RerankRequest,
    options: CallOptions,
    read: (answer: object) => R | Unusable,
  ): Promise<Outcome<R>>;
}

/** @internal Makes {@link RerankItems} over a rerank call. */
export function createRerankItems(rerank: RerankCall): RerankItems {
  return function items(query, given, options) {
    return start(
      "rerankDocuments",
      async () => {
        const own = ownProperties(options, "options", itemsOptionNames);
        return rankTraced(planOf(query, given, own, rerank.client), rerank);
      },
      (response) => response,
    );
  };
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
  list: readonly T[],
  own: RerankItemsOptions<T>,
  client: LateSettings,
): Plan<T> {
  if (!Array.isArray(list)) throw invalid("items must be a list.");
  // Copied: the caller's list may change while calls run.
  const items: readonly T[] = [...list];
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
  const rank = () => rankItems(plan, rerank);
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

async function rankItems<T>(plan: Plan<T>, rerank: RerankCall): Promise<RerankItemsResponse<T>> {
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
