/** The options of `client.rerank.items` that concern batches: the adapters of rerankers pass them on. */
export type BatchOption = keyof typeof batchNames;

/** Their names, for an option table: the client's own call checks the values. */
export const batchNames = {
  batchSize: 1,
  concurrency: 1,
  continueFrom: 1,
  maxBatchBytes: 1,
  onBatch: 1,
  split: 1,
} as const;
