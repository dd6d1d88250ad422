import type { RerankRequest, RerankResponse } from "../../generated/types.js";
import type { RunOperation } from "./operation.js";

const model = "accounts/stand-in/models/shared-words";

/** Ranks by shared words. Words stand in for tokens: the query's count once for each document. */
export const rerank: RunOperation<RerankRequest> = ({ body }): RerankResponse => {
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
