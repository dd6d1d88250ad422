import { afterEach, expect, test, vi } from "vitest";
import { connect, failureOf } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
afterEach(() => void vi.unstubAllEnvs());

test.each(["no", 0, {}])("idempotent: %j is refused, not taken for true", async (idempotent) => {
  const call = () =>
    connect(server.url).reinforcementFineTuningJobs.resume("job-1", { idempotent: idempotent as never });
  expect(await failureOf(call)).toMatchObject({ code: "INVALID_ARGUMENT", argument: "idempotent" });
  expect(server.requests).toHaveLength(0);
});

test("an empty TUNERANK_RERANK_MODEL is none: no model is sent", async () => {
  vi.stubEnv("TUNERANK_RERANK_MODEL", "");
  await connect(server.url).rerank({ query: "q", documents: ["d"] });
  expect(JSON.parse(`${server.only.body}`)).toEqual({ query: "q", documents: ["d"] });
});
