import { expect, test, vi } from "vitest";
import { outcomeOf, start, tunerank } from "../support/commandLine.js";
import { useRecordingServer } from "../support/recordingServer.js";

// Each is a process of its own.
vi.setConfig({ testTimeout: 60_000 });

const server = useRecordingServer();
const mebibyte = 1024 * 1024;
const tooLarge = "tunerank: The input is larger than 64 MiB: name a file, or send it in parts.";

test.each([["-"], []])("an input without end is left at 64 MiB: %j", async (...file) => {
  const child = start(["rerank", "--query", "q", ...file], { baseUrl: server.url, openInput: true });
  const outcome = outcomeOf(child);
  const lines = Buffer.from("y\n".repeat(mebibyte / 2));
  let sent = 0;
  const { stdin } = child;
  stdin?.on("error", () => {});
  const more = (error?: Error | null): void => {
    if (error || child.exitCode !== null || stdin?.destroyed) return;
    sent += lines.byteLength;
    stdin?.write(lines, more);
  };
  more();
  const { exitCode, stdout, stderr } = await outcome;
  expect([exitCode, stdout]).toEqual([2, ""]);
  expect(stderr.split("\n")[0]).toBe(tooLarge);
  // What the pipe holds is sent as well.
  expect(sent).toBeLessThan(68 * mebibyte);
  expect(server.connections).toBe(0);
});

test.skipIf(process.platform === "win32")("a device without end is left at 64 MiB too", async () => {
  const { exitCode, stderr } = await tunerank(["rerank", "--query", "q", "/dev/zero"], {
    baseUrl: server.url,
  });
  expect(exitCode).toBe(2);
  expect(stderr.split("\n")[0]).toBe(tooLarge);
  expect(server.connections).toBe(0);
});
