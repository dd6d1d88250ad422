import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { createOpenapiClient } from "../../src/adapters/openapiFetch.js";
import { connect, failureOf } from "../support/clients.js";
import { useTestClock } from "../support/clock.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { goodText, silence } from "../support/responses.js";
import { isPending } from "../support/turns.js";

const server = useRecordingServer();
const clock = useTestClock();

test("a response has no header of how its body was sent: the body is decoded", async () => {
  server.reply({
    headers: { "content-encoding": "gzip", "x-request-id": "r-1" },
    text: gzipSync(goodText),
  });
  const api = createOpenapiClient(connect(server.url));
  const body = { query: "q", documents: ["d".repeat(3000)] };
  const { response } = await api.POST("/inference/v1/rerank", { body });
  expect(server.only.headers["accept-encoding"]).toContain("gzip");
  const names = [...response.headers.keys()];
  expect(names).toContain("x-request-id");
  for (const name of ["content-encoding", "content-length", "transfer-encoding"])
    expect(names).not.toContain(name);
});

test("a call's timeoutMs is its deadline", async () => {
  server.reply(silence);
  const api = createOpenapiClient(connect(server.url));
  const body = { query: "q", documents: ["d"] };
  const failed = failureOf(() => api.POST("/inference/v1/rerank", { body, timeoutMs: 700 }));
  await server.received();
  clock.pass(700);
  expect(await isPending(failed)).toBe(false);
  expect((await failed).text).toBe("No complete response within 700 ms (timeoutMs).");
});
