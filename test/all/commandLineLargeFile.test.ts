import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { tunerank } from "../support/commandLine.js";
import { temporaryFolder } from "../support/project.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();

test("a file of more than 64 MiB is read whole, unlike a pipe", async () => {
  const { folder, remove } = await temporaryFolder();
  try {
    const file = path.join(folder, "large.txt");
    await writeFile(file, `${"x".repeat(65 * 1024 * 1024)}\nshort\n`);
    server.reply({ json: { object: "list", data: [{ index: 0, relevance_score: 1 }] } });
    const args = ["rerank", "--query", "q", "--batch-size", "1", file, "--json"];
    const { exitCode, stdout } = await tunerank(args, { baseUrl: server.url });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout).results).toHaveLength(2);
    expect(server.requests).toHaveLength(2);
  } finally {
    await remove();
  }
});
