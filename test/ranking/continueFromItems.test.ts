import { expect, test } from "vitest";
import type { RerankItemsError } from "../../src/index.js";
import { connect, failureOf } from "../support/clients.js";
import { ranked } from "../support/rankings.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { documentsOf } from "../support/responses.js";

const server = useRecordingServer();

test("continueFrom refuses items whose texts are divided in another way", async () => {
  server.reply((request) =>
    documentsOf(request).includes("c")
      ? { status: 403, json: { code: "PERMISSION_DENIED" } }
      : ranked(request),
  );
  const client = connect(server.url);
  const options = { text: String, batchSize: 1, concurrency: 1 };
  const failed = await failureOf(() => client.rerank.items("q", ["ab", "c"], options));
  const { partial: continueFrom } = failed as RerankItemsError<string>;
  server.requests = [];
  const refused = await failureOf(() => client.rerank.items("q", ["a", "bc"], { ...options, continueFrom }));
  expect(refused).toMatchObject({ code: "INVALID_ARGUMENT", argument: "continueFrom" });
  expect(refused.text).toContain("the items");
  expect(server.requests).toHaveLength(0);
});
