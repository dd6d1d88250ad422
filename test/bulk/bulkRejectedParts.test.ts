import { expect, test } from "vitest";
import { type RerankAllResult, rerankAll } from "../../src/bulk/index.js";
import { connect } from "../support/clients.js";
import { ranked } from "../support/rankings.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { documentsOf } from "../support/responses.js";

const server = useRecordingServer();

test("a document of which a part was rejected after another part was ranked is in no ranking", async () => {
  server.reply((request) =>
    documentsOf(request).includes("bad")
      ? { status: 400, json: { code: "INVALID_ARGUMENT", message: "No." } }
      : ranked(request, { usage: {} }),
  );
  const documents = ["one two", "fine bad", "three four"];
  const request = { id: "r", query: "q", documents };
  const options = { batchSize: 1, concurrency: 1, split: (text: string) => text.split(" ") };
  const results: RerankAllResult[] = [];
  for await (const result of rerankAll(connect(server.url), [request], options)) results.push(result);
  expect(results).toMatchObject([
    { id: "r", rejected: [{ index: 1 }], response: { data: [{ index: 0 }, { index: 2 }] } },
  ]);
  expect(results[0]?.response?.data).toHaveLength(2);
  expect(server.requests.flatMap(documentsOf)).toContain("fine");
});
