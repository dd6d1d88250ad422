import { expect, test } from "vitest";
import { connect, failureOf, transports } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { silence } from "../support/responses.js";

const server = useRecordingServer();
const clock = useTestClock();

test.each(transports)(
  "over $name a call's attemptTimeoutMs counts, not the client's",
  async ({ options }) => {
    server.reply(silence);
    const client = connect(server.url, { ...options, timeoutMs: 60_000, attemptTimeoutMs: 40_000 });
    const failed = failureOf(() =>
      client.rerank({ query: "q", documents: ["d"] }, { attemptTimeoutMs: 700 }),
    );
    await server.received();
    await clock.passWhenWaiting(700);
    expect(await failed).toMatchObject({ code: "DEADLINE_EXCEEDED", codeSource: "client" });
    expect((await failed).text).toContain("attemptTimeoutMs");
  },
);
