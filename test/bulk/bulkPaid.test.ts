// What ran was paid for: a run asks for it again only as often as the decision table says.
import { expect, test } from "vitest";
import { type RerankAllResult, rerankAll } from "../../src/bulk/index.js";
import { events } from "../../src/policy/decisions.js";
import { useNoBackoff } from "../support/backoff.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { ranked } from "../support/rankings.js";
import { type Reply, type Script, useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
useNoBackoff();

const busy: Reply = { status: 503 };
const cut: Script = (_request, response) => {
  response.writeHead(200, { "content-length": "100" });
  response.write('{"data":', () => response.destroy());
  return undefined;
};

async function rank(options: Parameters<typeof connect>[1] = {}): Promise<RerankAllResult> {
  const requests = [{ id: "a", query: "q", documents: ["d"] }];
  for await (const result of rerankAll(connect(server.url, options), requests)) return result;
  throw new Error("There is no result.");
}

test.each<[name: string, reply: Reply | Script, retries: number]>([
  ["without data", { json: {} }, events.incomplete.retries.read],
  ["whose score is 1e400", { text: '{"data":[{"index":0,"relevance_score":1e400}]}' }, 1],
  ["that is cut JSON", { text: '{"data":[' }, events.notJson.retries.read],
  ["that is empty", { text: "" }, events.notJson.retries.read],
  ["that is a list", { json: [] }, events.notJson.retries.read],
  ["whose body is cut", cut, events.bodyLost.retries.read],
  ["that cannot be joined", { json: { data: [{ index: 7, relevance_score: 1 }] } }, 0],
])(
  "a response %s is asked for again as often as the table says, and no more",
  async (_name, reply, retries) => {
    for (const { options } of transports) {
      server.requests = [];
      server.reply(reply as Reply);
      // A run has its own number: the table's.
      const { error } = await rank({ ...options, maxRetries: 0 });
      expect(server.requests).toHaveLength(1 + retries);
      expect(error).toMatchObject({ code: "INTERNAL", executed: "yes" });
      expect(error?.attempts).toHaveLength(1 + retries);
    }
  },
);

test("what did not run is tried on, and does not use up the retry of what did", async () => {
  const replies: Reply[] = [busy, busy, busy, { json: {} }, busy, busy, busy];
  server.reply((request) => replies.shift() ?? ranked(request));
  expect((await rank()).response?.data).toHaveLength(1);
  expect(server.requests).toHaveLength(8);
});

test("what ran twice is over, whatever came between", async () => {
  const replies: Reply[] = [busy, { json: {} }, busy, busy, { text: "" }];
  server.reply((request) => replies.shift() ?? ranked(request));
  const { error } = await rank();
  expect(error).toMatchObject({ code: "INTERNAL", executed: "yes", notRetried: "retries-used-up" });
  expect(server.requests).toHaveLength(5);
});

test("so it is in batches", async () => {
  server.reply((request) => (`${request.body}`.includes("lost") ? { json: {} } : ranked(request)));
  const client = connect(server.url, { maxRetries: undefined });
  const items = client.rerank.items("q", ["a", "b", "lost"], { text: String, batchSize: 1 });
  expect(await failureOf(() => items)).toMatchObject({ code: "INTERNAL", executed: "yes" });
  expect(server.requests.filter(({ body }) => `${body}`.includes("lost"))).toHaveLength(2);
});
