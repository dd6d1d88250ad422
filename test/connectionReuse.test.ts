import { expect, test } from "vitest";
import { connect, operationCalls } from "./support/clients.js";
import { useTestClock } from "./support/clock.js";
import { RecordingServer } from "./support/recordingServer.js";

const clock = useTestClock();

// A server may close an idle connection just as the next request goes out. Where repeating is not allowed,
// a connection that was idle for a second is therefore not used again.
test.each(operationCalls)(
  "over node:http $operation reuses an idle connection only where it may be repeated",
  async ({ operation, call }) => {
    const server = await new RecordingServer().start();
    server.keepSocketsOpen();
    try {
      const client = connect(server.url);
      await call(client);
      await call(client);
      expect(server.connections).toBe(1);
      clock.pass(1_100);
      await call(client);
      expect(server.requests).toHaveLength(3);
      const repeatable = operation === "rerankDocuments" || operation === "scaleDeployment";
      expect(server.connections).toBe(repeatable ? 1 : 2);
    } finally {
      await server.close();
    }
  },
);

test("over node:http calls at the same time have connections of their own, and use them again", async () => {
  const server = await new RecordingServer().start();
  try {
    const client = connect(server.url);
    const five = Array.from({ length: 5 }, () => () => client.rerank({ query: "q", documents: ["d"] }));
    await Promise.all(five.map((call) => call()));
    expect(server.connections).toBe(5);
    await Promise.all(five.map((call) => call()));
    expect(server.connections).toBe(5);
  } finally {
    await server.close();
  }
});
