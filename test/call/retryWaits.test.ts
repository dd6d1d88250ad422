// By the real clock, as the server sees it: whoever asks for a pause gets all of it.
import { describe, expect, test } from "vitest";
import { done, unavailable } from "../support/answers.js";
import { useNoBackoff } from "../support/backoff.js";
import { connect, transports } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();
useNoBackoff();

const calls = 40;

describe.each(transports)("over $name", ({ options }) => {
  test.each<[headers: Record<string, string>, ms: number]>([
    [{ "retry-after-ms": "10.5" }, 10.5],
    [{ "retry-after-ms": "3" }, 3],
    [{ "retry-after": "0.0123" }, 12.3],
    [{ "retry-after": "0.02", "retry-after-ms": "7" }, 20],
  ])("no wait of %j is shorter than asked", async (headers, ms) => {
    const answered = new Map<string, number>();
    const waits: number[] = [];
    server.reply(({ url }) => {
      const now = performance.now();
      const before = answered.get(url);
      if (before !== undefined) {
        waits.push(now - before);
        return done;
      }
      answered.set(url, performance.now());
      return { ...unavailable, headers };
    });
    // A client's retries are limited.
    const clients = Array.from({ length: calls }, () => connect(server.url, { maxRetries: 1, ...options }));
    await Promise.all(clients.map((client, number) => client.deployments.scale(`p-${number}`, 1)));
    await Promise.all(clients.map((client) => client.close()));
    expect(waits).toHaveLength(calls);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(ms);
  });
});
