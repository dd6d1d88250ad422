// The rerank bodies that are sent, by their size.
export const small = {
  query: "How do I get back into my account when I forgot my password?",
  documents: [
    "Invoices of the last two years can be downloaded as PDF under Settings, Billing.",
    "A password needs twelve characters and must differ from your last five.",
    "If you forgot your password, choose Reset on the sign-in page.",
    "Our office in Lisbon is closed on public holidays.",
  ],
  model: "accounts/bench/models/reranker-small",
  top_n: 2,
};

/** 40 documents of 100 characters: long enough that this package asks for a compressed response. */
export const medium = { ...small, documents: Array.from({ length: 10 }, () => small.documents).flat() };

/** By default 10,000 documents of 1 KB. */
export function large(documents = 10_000, length = 1024) {
  const text = "All work and no play makes a dull document. ".repeat(Math.ceil(length / 43));
  return {
    query: small.query,
    documents: Array.from({ length: documents }, (_, index) => `${index} ${text}`.slice(0, length)),
    model: small.model,
    return_documents: true,
  };
}

/** By the names that children are given. */
export const bodies = {
  small: () => small,
  medium: () => medium,
  large: () => large(),
  longDocuments: () => large(1000, 10_000),
};
