// Ranks what a LangChain retriever finds; `@langchain/classic` is a dependency of yours.
import { ContextualCompressionRetriever } from "@langchain/classic/retrievers/contextual_compression";
import { MemoryVectorStore } from "@langchain/classic/vectorstores/memory";
import { FakeEmbeddings } from "@langchain/core/utils/testing";
import { createClient } from "tunerank";
import { createDocumentCompressor } from "tunerank/langchain";

const texts = ["A password needs twelve characters.", "Choose Reset if you forgot your password."];
const store = await MemoryVectorStore.fromTexts(texts, [], new FakeEmbeddings());
const client = createClient(); // TUNERANK_BASE_URL, TUNERANK_API_KEY
const baseCompressor = createDocumentCompressor(client, { topN: 1 });
const retriever = new ContextualCompressionRetriever({ baseCompressor, baseRetriever: store.asRetriever() });
const [best] = await retriever.invoke("I forgot my password");
console.log(best?.metadata.relevanceScore.toFixed(3), best?.pageContent);
