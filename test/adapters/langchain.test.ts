import { expect, test } from "vitest";
import { createDocumentCompressor } from "../../src/adapters/langchain.js";
import { connect, failureOf } from "../support/clients.js";
import { ranked } from "../support/rankings.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();

test("the retriever's documents, which it may keep, stay as they are", async () => {
  server.reply((request) => ranked(request));
  const documents = [{ pageContent: "d", metadata: { source: "a" } }];
  const [best] = await createDocumentCompressor(connect(server.url)).compressDocuments(documents, "q");
  expect(best).toEqual({ pageContent: "d", metadata: { source: "a", relevanceScore: 1 } });
  expect(documents).toEqual([{ pageContent: "d", metadata: { source: "a" } }]);
});

test.each([
  ["the options'", AbortSignal.abort(), new AbortController().signal],
  ["the configuration's", new AbortController().signal, AbortSignal.abort()],
])("of two signals %s, aborted already, ends the call", async (_whose, signal, ofConfig) => {
  const compressor = createDocumentCompressor(connect(server.url), { signal });
  const documents = [{ pageContent: "d", metadata: {} }];
  const error = await failureOf(() => compressor.compressDocuments(documents, "q", { signal: ofConfig }));
  expect(error.code).toBe("CANCELLED");
  expect(server.requests).toHaveLength(0);
});
