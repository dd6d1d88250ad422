import assert from "node:assert/strict";
import { test } from "node:test";
import { ContextualCompressionRetriever } from "@langchain/classic/retrievers/contextual_compression";
import {
  BaseDocumentCompressor as ClassicCompressor,
  DocumentCompressorPipeline,
} from "@langchain/classic/retrievers/document_compressors";
import { MemoryVectorStore } from "@langchain/classic/vectorstores/memory";
import { Document } from "@langchain/core/documents";
import { BaseDocumentCompressor } from "@langchain/core/retrievers/document_compressors";
import { FakeEmbeddings } from "@langchain/core/utils/testing";
import { createDocumentCompressor } from "tunerank/langchain";
import { connect, firstBody, service } from "./support/service.ts";

const query = "capital of France";
const texts = ["Rome is in Italy.", "Paris is the capital of France.", "A capital."];
const documentsOf = () =>
  texts.map((pageContent, row) => new Document({ id: `d${row}`, pageContent, metadata: { row } }));

test("ContextualCompressionRetriever keeps the best of what a retriever finds", async () => {
  const store = await MemoryVectorStore.fromDocuments(documentsOf(), new FakeEmbeddings());
  const baseCompressor = createDocumentCompressor(connect(), { topN: 2 });
  const baseRetriever = store.asRetriever(3);
  const retriever = new ContextualCompressionRetriever({ baseCompressor, baseRetriever });
  const found = await retriever.invoke(query);
  assert.deepEqual(
    found.map(({ pageContent }) => pageContent),
    [texts[1], texts[2]],
  );
  assert.deepEqual(
    found.map(({ metadata }) => metadata.row),
    [1, 2],
  );
  const scores = found.map(({ metadata }) => metadata.relevanceScore as number);
  assert.ok(scores[0] !== undefined && scores[1] !== undefined && scores[0] > scores[1]);
  assert.equal(service.requests.length, 1);
  const { documents, return_documents } = firstBody();
  assert.deepEqual([...(documents as string[])].sort(), [...texts].sort());
  assert.equal(return_documents, false);
  // What is stored is not changed by what was found.
  const again = await baseRetriever.invoke(query);
  assert.ok(again.every(({ metadata }) => !("relevanceScore" in metadata)));
});

test("compressed documents are copies of their own class", async () => {
  class Chapter extends Document<{ row: number; relevanceScore?: number }> {
    get title(): string {
      return this.pageContent.slice(0, 5);
    }
  }
  const documents = texts.map(
    (pageContent, row) => new Chapter({ id: `d${row}`, pageContent, metadata: { row } }),
  );
  const before = structuredClone(documents.map((document) => ({ ...document })));
  const ranked = await createDocumentCompressor(connect()).compressDocuments(documents, query);
  assert.equal(ranked.length, 3);
  assert.ok(ranked.every((document) => document instanceof Chapter && document instanceof Document));
  assert.deepEqual(ranked.map(({ id, title }) => [id, title]).at(0), ["d1", "Paris"]);
  assert.ok(ranked.every((document) => !documents.includes(document)));
  assert.ok(ranked.every(({ metadata }) => typeof metadata.relevanceScore === "number"));
  assert.deepEqual(
    documents.map((document) => ({ ...document })),
    before,
  );
});

test("LangChain takes it for a compressor, by type and at run time", async () => {
  const compressor: BaseDocumentCompressor = createDocumentCompressor(connect(), { topN: 1 });
  const classic: ClassicCompressor = createDocumentCompressor(connect(), { topN: 1 });
  assert.ok(BaseDocumentCompressor.isBaseDocumentCompressor(compressor));
  assert.ok(ClassicCompressor.isBaseDocumentCompressor(classic));
  const pipeline = new DocumentCompressorPipeline({ transformers: [classic] });
  const [best, ...others] = await pipeline.compressDocuments(documentsOf(), query);
  assert.equal(best?.pageContent, texts[1]);
  assert.deepEqual(others, []);
});

test("model and task reach the service, and no documents ask for nothing", async () => {
  const model = "accounts/acme/models/reranker-small";
  const compressor = createDocumentCompressor(connect(), { model, task: "Find the city." });
  assert.deepEqual(await compressor.compressDocuments([], query), []);
  assert.equal(service.requests.length, 0);
  await compressor.compressDocuments(documentsOf(), query);
  assert.deepEqual(firstBody(), {
    query,
    documents: texts,
    model,
    task: "Find the city.",
    return_documents: false,
  });
});

test("a retriever fails with the client's own error, after the client's own repeats", async () => {
  service.fail("rerank", { code: "UNAVAILABLE", times: Number.POSITIVE_INFINITY });
  const store = await MemoryVectorStore.fromTexts(texts, [], new FakeEmbeddings());
  const baseCompressor = createDocumentCompressor(connect());
  const retriever = new ContextualCompressionRetriever({
    baseCompressor,
    baseRetriever: store.asRetriever(),
  });
  await assert.rejects(retriever.invoke(query), { name: "StatusError", code: "UNAVAILABLE" });
  assert.equal(service.requests.length, 3);
});
