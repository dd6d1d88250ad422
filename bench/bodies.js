// The two rerank bodies that are sent: a small one, and 10,000 documents of 1 KB.
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

export function large(documents = 10_000) {
  const text = "All work and no play makes a dull document. ".repeat(24);
  return {
    query: small.query,
    documents: Array.from({ length: documents }, (_, index) => `${index} ${text}`.slice(0, 1024)),
    model: small.model,
    return_documents: true,
  };
}
