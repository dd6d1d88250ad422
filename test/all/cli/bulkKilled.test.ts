import { test } from "vitest";
import { expectOneRowEach } from "../../support/killedRuns.js";
import { temporaryFolder } from "../../support/project.js";
import { useRecordingServer } from "../../support/recordingServer.js";

const server = useRecordingServer();

test("a bulk run that is killed at 200 random moments has one row for each id", {
  timeout: 1_200_000,
}, async () => {
  const { folder, remove } = await temporaryFolder();
  await expectOneRowEach(server, folder, {
    requests: 6_000,
    kills: 200,
    seed: Number(process.env.TUNERANK_SEED ?? 1),
  });
  await remove();
});
