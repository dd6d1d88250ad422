import { requestIdOf } from "../call/answer.js";
import { type Attempt, StatusError } from "../errors/statusError.js";
import type { RerankUsage } from "../generated/types.js";
import type { Ranking } from "./readRanking.js";

/** One of the caller's things, ranked. */
export interface RankedItem<T> {
  /** The thing itself. */
  readonly item: T;
  /** Its position in `items`. */
  readonly index: number;
  /** The service's `relevance_score`, as it came. */
  readonly score: number;
}

/** What `withResponse()` of a ranking of items resolves to. */
export interface RerankItemsResponse<T> {
  /** What the call alone resolves to. */
  readonly data: RankedItem<T>[];
  /** The model the service used; undefined when nothing was sent. */
  readonly model: string | undefined;
  /** The tokens of all batches together. */
  readonly usage: RerankUsage;
  /** The ids of the answers that had one. */
  readonly requestIds: readonly string[];
  /** Every HTTP request made, batch by batch as they ended. */
  readonly attempts: readonly Attempt[];
}

/** @internal A batch that was ranked; its first item's position is `offset`. */
export interface DoneBatch {
  readonly offset: number;
  readonly ranking: Ranking;
  readonly attempts: readonly Attempt[];
  readonly headers: Readonly<Record<string, string>>;
}

/** @internal One order for the items of all batches. @throws StatusError `INTERNAL` when models differ: so would their scores. */
export function mergeRankings<T>(
  items: readonly T[],
  batches: readonly DoneBatch[],
  topN: number | undefined,
): RerankItemsResponse<T> {
  const attempts = batches.flatMap((batch) => batch.attempts);
  const models = new Set(batches.map(({ ranking }) => ranking.model));
  if (models.size > 1) {
    throw new StatusError(`The batches were ranked by different models: ${[...models].join(", ")}.`, {
      code: "INTERNAL",
      executed: "yes",
      codeSource: "client",
      operation: "rerankDocuments",
      notRetried: "not-transient",
      attempts,
      hint: "Name the model in options, or send all items in one request.",
    });
  }
  const data = batches.flatMap(({ offset, ranking }) =>
    ranking.data.map(({ index, score }) => ({
      item: items[offset + index] as T,
      index: offset + index,
      score,
    })),
  );
  return {
    data: data.sort(byScore).slice(0, topN),
    model: [...models][0],
    usage: batches.reduce(sum, { prompt_tokens: 0, total_tokens: 0 }),
    requestIds: batches.map(({ headers }) => requestIdOf(headers)).filter((id) => id !== undefined),
    attempts,
  };
}

function byScore(a: RankedItem<unknown>, b: RankedItem<unknown>): number {
  return b.score - a.score || a.index - b.index;
}

function sum({ prompt_tokens, total_tokens }: RerankUsage, { ranking: { usage } }: DoneBatch): RerankUsage {
  return {
    prompt_tokens: prompt_tokens + usage.prompt_tokens,
    total_tokens: total_tokens + usage.total_tokens,
  };
}
