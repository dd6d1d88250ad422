// Ranks items in batches. Loaded with the first `rerank.items`.
import { hiding, isTraced, loadHiding, publish } from "#platform";
import { type ResponseReader, readObject } from "../call/response.js";
import { type ClientConfig, callSettings } from "../call/settings.js";
import type { Outcome } from "../call/types.js";
import { isStatusError } from "../errors/statusError.js";
import { operations, requests } from "../generated/contract.js";
import type { RerankRequest } from "../generated/types.js";
import { checkCallback, checkCount } from "../options/arguments.js";
import { callOptionTable } from "../options/table.js";
import type { CallOptions } from "../options/types.js";
import { type OptionTable, ownProperties, validate } from "../options/validate.js";
import { backoff, fewAtOnce } from "../policy/decisions.js";
import { type Limiter, type Limiters, sharedLimiter } from "../policy/limiter.js";
import { attemptPolicy } from "../policy/retry.js";
import type { Lane } from "../policy/run.js";
import type { Deadline } from "../transport/time.js";
import { define, notify } from "../values.js";
import {
  BatchResults,
  errorOfBatches,
  isRejection,
  mergeRankings,
  partialOf,
  rankedItems,
  readRanking,
} from "./merge.js";
import { type Batch, concurrencyOf, type PlannedItems, planItems } from "./plan.js";
import { type BatchRun, runBatches } from "./run.js";
import type { RerankItemsOptions, RerankItemsResponse } from "./types.js";

/** The rerank call that is made for each batch, by its client. */
export interface RerankCall {
  readonly client: ClientConfig;
  readonly limiters: Limiters;
  /** Waits for a module that is loaded on first use. @throws StatusError */
  loaded<T>(part: Promise<T>): Promise<T>;
  readonly deadline: Deadline;
  send<R>(body: RerankRequest, own: CallOptions | undefined, read: ResponseReader<R>): Promise<Outcome<R>>;
}

const { body: rules } = requests.rerankDocuments;

const setByItems = /^(query|documents|top_n|return_documents)$/;
// The fields of a request that are options. A field that the contract adds becomes an option without a change here.
const fieldNames = Object.keys(rules.properties).filter((name) => !setByItems.test(name));
const optionNames: OptionTable<RerankItemsOptions<unknown>> = {
  ...callOptionTable,
  text: 1,
  topN: 1,
  split: 1,
  batchSize: checkCount,
  maxBatchBytes: checkCount,
  onBatch: checkCallback,
  continueFrom: 1,
  concurrency: concurrencyOf,
  ...(Object.fromEntries(fieldNames.map((name) => [name, 1])) as OptionTable<
    Pick<RerankItemsOptions<unknown>, "model" | "task">
  >),
};

/**
 * Ranks items, in one request or in batches.
 * @param items A copy of the caller's list; `options` is a copy, too. @throws StatusError
 */
export async function rankItems<T>(
  rerank: RerankCall,
  query: string,
  items: readonly T[],
  options: RerankItemsOptions<T>,
): Promise<RerankItemsResponse<T>> {
  const own = ownProperties(options, "options", optionNames);
  const plan = planOf(query, items, own, rerank.client);
  const { batches, body } = plan;
  const run = () => rankBatches(plan, rerank);
  // With several batches, each is traced as a call within this call; a single batch is traced as the call itself.
  if (batches.length < 2 || !isTraced("call")) return run();
  const sizes = { documents: items.length, batches: batches.length };
  const target = { operation: "rerankDocuments", ...sizes, model: body.model } as const;
  return publish("call", target, run, ({ attempts, model, usage }) => ({ attempts, model, usage }));
}

// A call that is checked and ready to be made.
interface Plan<T> extends PlannedItems<T>, Pick<BatchRun, "timeoutMs" | "untilDeadline" | "signal"> {
  readonly items: readonly T[];
  readonly body: Omit<RerankRequest, "documents">;
  readonly options: RerankItemsOptions<T>;
  readonly concurrency: number | { readonly max: number };
  /** The deadline of each batch, in milliseconds. */
  readonly eachMs: number;
}

function planOf<T>(
  query: string,
  items: readonly T[],
  own: RerankItemsOptions<T>,
  client: ClientConfig,
): Plan<T> {
  validate(items, { type: "array" }, "items");
  const { topN } = own;
  const given = Object.entries(own).filter(([name]) => fieldNames.includes(name));
  const fields: Partial<RerankRequest> = Object.fromEntries(given);
  const body = { ...fields, query, top_n: undefined, return_documents: false };
  validate({ ...body, documents: [""] }, rules, "body");
  if (topN !== undefined) validate(topN, rules.properties.top_n, "topN");
  const concurrency = concurrencyOf(own.concurrency);
  const { signal, timeoutMs, client: settings } = callSettings(client, own, "rerankDocuments");
  const batched = planItems(items, own, { ...body, model: body.model ?? settings.rerankModel });
  const eachMs = timeoutMs ?? operations.rerankDocuments.timeoutMs;
  const atOnce = typeof concurrency === "number" ? concurrency : Math.min(fewAtOnce, concurrency.max);
  const wholeMs = timeoutMs ?? eachMs * Math.ceil(batched.batches.length / atOnce);
  const untilDeadline = own.maxRetries === undefined && settings.maxRetries === undefined;
  const times = { eachMs, timeoutMs: wholeMs, untilDeadline };
  return { items, body, options: own, ...batched, ...times, concurrency, signal };
}

async function rankBatches<T>(plan: Plan<T>, rerank: RerankCall): Promise<RerankItemsResponse<T>> {
  const { items, batches, before, options, body, eachMs, fingerprint } = plan;
  const { limiters, loaded, deadline } = rerank;
  const results = new BatchResults(items, before);
  const ofCall = Object.entries(options).filter(([name]) => Object.hasOwn(callOptionTable, name));
  const run = async (number: number, lane: Lane): Promise<void> => {
    const leftMs = Math.max(1, Math.ceil(deadline.leftMs));
    const call: CallOptions = {
      ...Object.fromEntries(ofCall),
      timeoutMs: Math.min(eachMs, leftMs),
      // A single batch is retried like any other call. Of several batches, each has a lane that decides about its retries.
      ...(batches.length > 1 && { [attemptPolicy]: lane }),
    };
    try {
      const documents = plan.documentsOf(number);
      const request = { ...body, documents: documents.map(({ text }) => text) };
      const read = readObject((value) => readRanking(value, documents));
      const { data: ranking, response, attempts } = await rerank.send(request, call, read);
      const ranked = { number, ranking, attempts: attempts(), response };
      results.ranked(ranked);
      if (options.onBatch === undefined) return;
      const { offset, count } = batches[number] as Batch;
      const { model, usage } = ranking;
      const data = rankedItems({ items, batches: [ranked], before: undefined });
      const progress = { done: results.batches.length, batches: batches.length };
      notify(options.onBatch, { batch: number, offset, count, data, model, usage, ...progress });
    } catch (error) {
      results.failed(error);
      throw error;
    }
  };
  // Each batch tells its attempts, in whose texts keys are hidden.
  if (!hiding) await deadline.untilEnded(loadHiding());
  const { max } = typeof plan.concurrency === "number" ? { max: plan.concurrency } : plan.concurrency;
  let concurrency: number | Limiter = max;
  // A search finds the limit by 429s, for which a call with `maxRetries` may have too few retries.
  const isSearched = batches.length > fewAtOnce && plan.untilDeadline;
  if (plan.concurrency !== max && !isSearched) concurrency = Math.min(fewAtOnce, max);
  else if (plan.concurrency !== max) {
    const { LimitSearch } = await deadline.untilEnded(loaded(import("../policy/search.js")));
    concurrency = sharedLimiter(LimitSearch, limiters, max, backoff.longestRetryAfterMs);
  }
  const failed = await runBatches({ ...plan, batches: batches.length, concurrency, deadline, run });
  if (failed === undefined) return mergeRankings(results, options.topN);
  const { batch, error } = failed;
  const { offset, count } = batches[batch] as Batch;
  const ended = { batch, offset, count };
  const item = count === 1 && isStatusError(error) && isRejection(error) ? offset : undefined;
  const whole = errorOfBatches(error, results, batches.length > 1 ? ended : undefined, item);
  // After a rejected key, the client's next run begins with few requests at once.
  if (/^(UNAUTHENTICATED|PERMISSION_DENIED)$/.test(whole.code)) limiters.last = undefined;
  // Not enumerable: logs show an error's properties, and `partial` has the caller's items.
  if (results.attempts.length > 0)
    define(whole, { partial: partialOf(results, batches, ended, fingerprint()) });
  throw whole;
}
