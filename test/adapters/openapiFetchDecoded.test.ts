import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { createOpenapiClient } from "../../src/adapters/openapiFetch.js";
import { connect } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { goodText } from "../support/responses.js";

const server = useRecordingServer();

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
