/**
 * A document compressor for LangChain.js.
 *
 * @module tunerank/langchain
 */
import type { Client } from "../client.js";
import { ownProperties } from "../options/arguments.js";
import type { Names } from "../options/names.js";

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

// What LangChain gives its components of its own is known, and not used.
type OfLangChain = Record<"callbacks" | "metadata" | "tags" | "verbose", unknown>;
const names: Names<DocumentCompressorOptions & OfLangChain> = {
  model: 1,
  topN: 1,
  task: 1,
  callbacks: 1,
  metadata: 1,
  tags: 1,
  verbose: 1,
};

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
  const { model, topN, task } = ownProperties(options, "options", names);
  return {
    async compressDocuments(documents, query) {
      const ranked = await client.rerank.items(query, documents, {
        model,
        topN,
        task,
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
