import { once } from "node:events";
import { expect, test, vi } from "vitest";
import { outcomeOf, start } from "../support/commandLine.js";
import { useRecordingServer } from "../support/recordingServer.js";

// Each is a process of its own.
vi.setConfig({ testTimeout: 30_000 });

const server = useRecordingServer();

const signals = [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const;

test.each(signals)("%s ends a call with %i and says whether it may have run", async (signal, expected) => {
  server.reply(() => undefined);
  const child = start(["resume", "job-1"], { baseUrl: server.url });
  const outcome = outcomeOf(child);
  await server.received();
  child.kill(signal);
  const { exitCode, stderr } = await outcome;
  expect(exitCode).toBe(expected);
  expect(stderr).toMatch(
    /^tunerank: \[CANCELLED\] The caller aborted the call\.\nThe operation may have run\. The job may have been resumed/,
  );
});

test.each(signals)("%s before anything is sent ends with %i and says so", async (signal, expected) => {
  const child = start(["rerank", "--query", "q", "-"], { baseUrl: server.url, openInput: true });
  const outcome = outcomeOf(child);
  // More than a pipe holds: once it is written, the command has begun to read.
  await new Promise((resolve) => child.stdin?.write("a line\n".repeat(100_000), resolve));
  child.kill(signal);
  const { exitCode, stderr } = await outcome;
  expect([exitCode, stderr]).toEqual([expected, "Cancelled before anything was sent.\n"]);
  expect(server.connections).toBe(0);
});

test("a signal during a wait says what the attempt before it met", async () => {
  server.reply({ status: 503, headers: { "retry-after": "20" }, json: { code: "UNAVAILABLE" } });
  const child = start(["scale", "prod", "1"], { baseUrl: server.url });
  const outcome = outcomeOf(child);
  await once(child.stderr as NodeJS.ReadableStream, "readable");
  child.kill("SIGTERM");
  const { exitCode, stderr } = await outcome;
  expect(exitCode).toBe(143);
  expect(stderr).toContain("[CANCELLED]");
  expect(stderr).toContain("The operation may have run.");
});

test.each(signals)("%s ends the stand-in as it should end", async (signal) => {
  const child = start(["mock", "--port", "0"]);
  const outcome = outcomeOf(child);
  await once(child.stdout as NodeJS.ReadableStream, "readable");
  child.kill(signal);
  expect((await outcome).exitCode).toBe(0);
});
