import http from "node:http";
import { expect, test } from "vitest";
import { connect } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { done } from "../support/responses.js";
import { isPending } from "../support/turns.js";

const server = useRecordingServer();
const clock = useTestClock();

test("a call that waits for a socket of its agent, which others use, is not connecting", async () => {
  let release = (): void => {};
  server.reply((_request, response) => {
    release = () => response.end("{}");
    return undefined;
  });
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  http.get(server.url, { agent }, (response) => response.resume());
  await server.received();
  server.reply(done);
  const client = connect(server.url, { agent, connectTimeoutMs: 1000 });
  const call = client.rerank({ query: "q", documents: ["d"] });
  expect(await isPending(call)).toBe(true);
  clock.pass(5000);
  expect(await isPending(call)).toBe(true);
  release();
  expect((await call).data).toHaveLength(1);
  agent.destroy();
});
