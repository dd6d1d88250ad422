/**
 * A document compressor for LangChain.js.
 *
 * @module tunerank/langchain
 */
import type { Client } from "../client.js";
import type { AbortSignalLike } from "../options/types.js";
import { type OptionTable, ownProperties } from "../options/validate.js";
import type { RerankItemsOptions } from "../ranking/types.js";
import { memberOf } from "../values.js";
import { type BatchOption, batchNames } from "./rerankOptions.js";

/** The fields of a LangChain document that the compressor reads. */
export interface DocumentLike {
  /** The text that the document is ranked by. */
  pageContent: string;
  /** The document's other data: the compressor keeps it and adds the score. */
  // biome-ignore lint/suspicious/noExplicitAny: LangChain's own type
  metadata: Record<string, any>;
}

/** Options of {@link createDocumentCompressor}. */
export interface DocumentCompressorOptions
  extends Pick<RerankItemsOptions<DocumentLike>, BatchOption | "maxRetries" | "signal" | "timeoutMs"> {
  /** The name of the reranker model. @default the client's rerankModel */
  model?: string | undefined;
  /** How many of the best documents to keep: at least 1. @default all */
  topN?: number | undefined;
  /** A task description that guides the ranking. */
  task?: string | undefined;
}

// Options that LangChain passes to all its components: they are accepted and ignored.
const ofLangChain = { callbacks: 1, metadata: 1, tags: 1, verbose: 1 } as const;
const names: OptionTable<DocumentCompressorOptions & typeof ofLangChain> = {
  model: 1,
  topN: 1,
  task: 1,
  ...batchNames,
  maxRetries: 1,
  signal: 1,
  timeoutMs: 1,
  ...ofLangChain,
};

/** A document compressor as LangChain defines it: LangChain calls it with the retrieved documents. */
export interface DocumentCompressor {
  /**
   * Returns copies of the best documents, best first; each has the service's score as `metadata.relevanceScore`.
   *
   * @param documents The retrieved documents.
   * @param query The query that the documents are ranked for.
   * @param config LangChain's callbacks, or a configuration whose `signal` ends the call.
   * @throws StatusError as the client's own call does.
   */
  compressDocuments<D extends DocumentLike>(documents: D[], query: string, config?: unknown): Promise<D[]>;
}

/**
 * Creates a document compressor for LangChain.js, for `ContextualCompressionRetriever`: it ranks the retrieved
 * documents and keeps the best. A call ends when one of three signals aborts: the `signal` of these options, the one of
 * the configuration passed to `compressDocuments`, or the one of the chain that runs the compressor.
 *
 * @param client The client that makes the calls.
 * @param options The model, how many documents to keep, the task, and the options of the call.
 * @throws StatusError from `compressDocuments`, as the client's own call does.
 * @example
 * const baseCompressor = createDocumentCompressor(client, { topN: 3 });
 * const retriever = new ContextualCompressionRetriever({ baseCompressor, baseRetriever });
 */
export function createDocumentCompressor(
  client: Pick<Client, "rerank">,
  options: DocumentCompressorOptions = {},
): DocumentCompressor {
  const own: DocumentCompressorOptions & Partial<typeof ofLangChain> = ownProperties(
    options,
    "options",
    names,
  );
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

// LangChain keeps the configuration of the running chain in this storage; it does not pass it to a compressor.
function runningConfig(): unknown {
  const storage = (globalThis as Record<symbol, unknown>)[Symbol.for("ls:tracing_async_local_storage")];
  const getStore = memberOf(storage, "getStore");
  const extra = typeof getStore === "function" ? memberOf(getStore.call(storage), "extra") : undefined;
  return (extra as Record<symbol, unknown> | undefined)?.[Symbol.for("lc:child_config")];
}

// Runs with a signal that aborts when any of the signals does. AbortSignal.any is not used: on Node 20, garbage
// collection can lose its signals.
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

// Returns a copy of the same class: the retriever may share or cache its own document.
function withScore<D extends DocumentLike>(document: D, relevanceScore: number): D {
  const copy = Object.assign(Object.create(Object.getPrototypeOf(document)) as D, document);
  copy.metadata = { ...document.metadata, relevanceScore };
  return copy;
}
