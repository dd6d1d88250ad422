import { afterEach, expect, test } from "vitest";
import { createRerankingModel } from "../../src/adapters/aiSdk.js";
import { createDocumentCompressor } from "../../src/adapters/langchain.js";
import { createTestService } from "../../src/testing/index.js";
import { connect } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
const ranking = {
  model: "m",
  data: [
    { index: 1, relevance_score: 2 },
    { index: 0, relevance_score: 1 },
  ],
};

const polluted = { topN: 1, task: "polluted", tunerank: { task: "polluted" }, specificationVersion: "v3" };

function pollute(members: object): void {
  for (const [name, value] of Object.entries(members))
    Object.defineProperty(Object.prototype, name, { value, writable: true, configurable: true });
}

afterEach(() => {
  for (const name of [...Object.keys(polluted), "port", "host"])
    Reflect.deleteProperty(Object.prototype, name);
});

test("a polluted Object.prototype changes nothing of the AI SDK's reranking model", async () => {
  server.reply({ json: ranking });
  pollute(polluted);
  const model = createRerankingModel(connect(server.url), "m");
  const values = ["a", "b"];
  const answer = await model.doRerank({ query: "q", documents: { type: "text", values } });
  expect(model.specificationVersion).toBe("v3");
  expect(answer.ranking).toHaveLength(2);
  expect(server.only.body.toString()).not.toContain("polluted");
});

test("a polluted Object.prototype changes nothing of LangChain's document compressor", async () => {
  server.reply({ json: ranking });
  pollute(polluted);
  const compressor = createDocumentCompressor(connect(server.url));
  const documents = ["a", "b"].map((pageContent) => ({ pageContent, metadata: {} }));
  expect(await compressor.compressDocuments(documents, "q")).toHaveLength(2);
  expect(server.only.body.toString()).not.toContain("polluted");
});

test("a polluted Object.prototype does not choose where the stand-in listens", async () => {
  pollute({ port: -1, host: "no such host" });
  const { url, close } = await createTestService().listen();
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  await close();
});
