/**
 * A document compressor for LangChain.js.
 *
 * @module tunerank/langchain
 */
import type { Client } from "../client.js";
import { ownProperties } from "../options/arguments.js";
import type { AbortSignalLike } from "../options/types.js";
import type { OptionTable } from "../options/validate.js";
import type { RerankItemsOptions } from "../ranking/types.js";
import { memberOf } from "../values.js";

/** The part of a LangChain document that is read. */
export interface DocumentLike {
  /** The text it is ranked by. */
  pageContent: string;
  /** Whatever else is known of it: kept, with the score added. */
  // biome-ignore lint/suspicious/noExplicitAny: LangChain's own type
  metadata: Record<string, any>;
}

/** Options of {@link createDocumentCompressor}. */
export interface DocumentCompressorOptions
  extends Pick<
    RerankItemsOptions<DocumentLike>,
    | "batchSize"
    | "concurrency"
    | "continueFrom"
    | "maxBatchBytes"
    | "maxRetries"
    | "onBatch"
    | "signal"
    | "split"
    | "timeoutMs"
  > {
  /** The name of the reranker model. @default the client's rerankModel */
  model?: string | undefined;
  /** Keep this many of the best: at least 1. @default all */
  topN?: number | undefined;
  /** A task description that guides the ranking. */
  task?: string | undefined;
}

// What LangChain gives its components of its own is known, and not used.
type OfLangChain = Record<"callbacks" | "metadata" | "tags" | "verbose", unknown>;
const names: OptionTable<DocumentCompressorOptions & OfLangChain> = {
  model: 1,
  topN: 1,
  task: 1,
  batchSize: 1,
  concurrency: 1,
  continueFrom: 1,
  maxBatchBytes: 1,
  onBatch: 1,
  split: 1,
  maxRetries: 1,
  signal: 1,
  timeoutMs: 1,
  callbacks: 1,
  metadata: 1,
  tags: 1,
  verbose: 1,
};

/** What LangChain calls a document compressor. */
export interface DocumentCompressor {
  /**
   * Best first; each copy has the service's score as `metadata.relevanceScore`.
   *
   * @param documents What was retrieved.
   * @param query What they are ranked for.
   * @param config LangChain's callbacks, or a configuration whose `signal` ends the call.
   * @throws StatusError as the client's own call does.
   */
  compressDocuments<D extends DocumentLike>(documents: D[], query: string, config?: unknown): Promise<D[]>;
}

/**
 * A document compressor for LangChain.js, as `ContextualCompressionRetriever` takes it: ranks what was retrieved, and
 * keeps the best. A call ends when one of these aborts: the `signal` of the options, that of the configuration it is
 * given, or that of the chain it runs in.
 *
 * @param client The client that makes the calls.
 * @param options The model, how many to keep, and the task.
 * @throws StatusError from `compressDocuments`, as the client's own call does.
 * @example
 * const baseCompressor = createDocumentCompressor(client, { topN: 3 });
 * const retriever = new ContextualCompressionRetriever({ baseCompressor, baseRetriever });
 */
export function createDocumentCompressor(
  client: Pick<Client, "rerank">,
  options: DocumentCompressorOptions = {},
): DocumentCompressor {
  const own: DocumentCompressorOptions & Partial<OfLangChain> = ownProperties(options, "options", names);
  const { signal, callbacks: _c, metadata: _m, tags: _t, verbose: _v, ...given } = own;
  return {
    async compressDocuments<D extends DocumentLike>(documents: D[], query: string, config?: unknown) {
      const signals = [signal, signalOf(config), signalOf(runningConfig())];
      const ranked = await withAny(signals, (any) =>
        client.rerank.items<DocumentLike>(query, documents, {
          ...given,
          signal: any,
          text: ({ pageContent }) => pageContent,
        }),
      );
      return ranked.map(({ item, score }) => withScore(item as D, score));
    },
  };
}

function signalOf(config: unknown): AbortSignalLike | undefined {
  const signal = memberOf(config, "signal") as AbortSignalLike | undefined;
  return typeof signal?.addEventListener === "function" ? signal : undefined;
}

// Where LangChain keeps the configuration of the chain that runs; a compressor is not handed it.
function runningConfig(): unknown {
  const storage = (globalThis as Record<symbol, unknown>)[Symbol.for("ls:tracing_async_local_storage")];
  const getStore = memberOf(storage, "getStore");
  const extra = typeof getStore === "function" ? memberOf(getStore.call(storage), "extra") : undefined;
  return (extra as Record<symbol, unknown> | undefined)?.[Symbol.for("lc:child_config")];
}

// AbortSignal.any would do, but on Node 20 its signals are lost when garbage is collected.
async function withAny<T>(
  all: readonly (AbortSignalLike | undefined)[],
  run: (signal: AbortSignalLike | undefined) => Promise<T>,
): Promise<T> {
  const signals = [...new Set(all)].filter((signal) => signal !== undefined);
  if (signals.length < 2) return run(signals[0]);
  const controller = new AbortController();
  const abort = (): void => controller.abort(signals.find(({ aborted }) => aborted)?.reason);
  for (const signal of signals) signal.addEventListener("abort", abort);
  if (signals.some(({ aborted }) => aborted)) abort();
  try {
    return await run(controller.signal);
  } finally {
    for (const signal of signals) signal.removeEventListener("abort", abort);
  }
}

// A copy of the same class: the retriever's own document may be shared or cached.
function withScore<D extends DocumentLike>(document: D, relevanceScore: number): D {
  const copy = Object.assign(Object.create(Object.getPrototypeOf(document)) as D, document);
  copy.metadata = { ...document.metadata, relevanceScore };
  return copy;
}
