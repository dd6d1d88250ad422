/**
 * A document compressor for LangChain.js.
 *
 * @module tunerank/langchain
 */
import type { Client } from "../client.js";

/** The part of a LangChain document that is read. */
export interface DocumentLike {
  pageContent: string;
  // biome-ignore lint/suspicious/noExplicitAny: LangChain's own type
  metadata: Record<string, any>;
}

/** Options of {@link createDocumentCompressor}. */
export interface DocumentCompressorOptions {
  /** The name of the reranker model. @default the client's rerankModel */
  model?: string | undefined;
  /** Keep this many of the best: at least 1. @default all */
  topN?: number | undefined;
  /** A task description that guides the ranking. */
  task?: string | undefined;
}

/** What LangChain calls a document compressor. */
export interface DocumentCompressor {
  /** Best first; each copy has the service's score as `metadata.relevanceScore`. */
  compressDocuments<D extends DocumentLike>(documents: D[], query: string): Promise<D[]>;
}

/**
 * A document compressor for LangChain.js, as `ContextualCompressionRetriever` takes it: ranks what was retrieved, and
 * keeps the best.
 *
 * @throws StatusError from `compressDocuments`, as the client's own call does.
 * @example
 * const baseCompressor = createDocumentCompressor(client, { topN: 3 });
 * const retriever = new ContextualCompressionRetriever({ baseCompressor, baseRetriever });
 */
export function createDocumentCompressor(
  client: Pick<Client, "rerank">,
  options: DocumentCompressorOptions = {},
): DocumentCompressor {
  return {
    async compressDocuments(documents, query) {
      const ranked = await client.rerank.items(query, documents, {
        ...options,
        text: ({ pageContent }) => pageContent,
      });
      return ranked.map(({ item, score }) => withScore(item, score));
    },
  };
}

// A copy of the same class: the retriever's own document may be shared or cached.
function withScore<D extends DocumentLike>(document: D, relevanceScore: number): D {
  const copy = Object.assign(Object.create(Object.getPrototypeOf(document)) as D, document);
  copy.metadata = { ...document.metadata, relevanceScore };
  return copy;
}
