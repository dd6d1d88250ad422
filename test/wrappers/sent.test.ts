import { expect, test } from "vitest";
import { type OperationRow, operations } from "../../src/generated/contract.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { silence } from "../support/responses.js";

const server = useRecordingServer();
const clock = useTestClock();

test.each(transports)(
  "over $name an id is encoded, also what RFC 3986 reserves alone",
  async ({ options }) => {
    await connect(server.url, options).deployments.scale("a!'()*b", 1);
    expect(server.only.url).toBe("/v1/accounts/acme/deployments/a%21%27%28%29%2Ab:scale");
  },
);

test.each(transports)("over $name the deadline of an upload grows with its file", async ({ options }) => {
  server.reply(silence);
  const { timeoutMs, bytesPerSecond = 0 }: OperationRow = operations.uploadDatasetFile;
  const bytes = 3_000_001;
  const client = connect(server.url, options);
  const failed = failureOf(() => client.datasets.upload("reviews", new Uint8Array(bytes), { name: "a" }));
  await server.received();
  clock.pass(10 * timeoutMs);
  const ms = timeoutMs + Math.ceil((bytes * 1000) / bytesPerSecond);
  expect((await failed).text).toBe(`No complete response within ${ms} ms (timeoutMs).`);
});
