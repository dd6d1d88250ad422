import { Agent } from "node:http";
import { describe, expect, test } from "vitest";
import { canaryKey, leaksOf } from "../support/canary.js";
import { connect, failureOf, operationCalls } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();

const spellings: readonly (readonly [how: string, text: string])[] = [
  ["as it is", canaryKey],
  ["as JSON", JSON.stringify({ authorization: `Bearer ${canaryKey}` }).replaceAll("/", "\\/")],
  ["in a URL", `https://proxy.example.com/?key=${encodeURIComponent(canaryKey)}`],
  ["in base64", `proxy-authorization: Basic ${btoa(`me:${canaryKey}`)}`],
  ["as HTML", canaryKey.replaceAll("&", "&amp;").replaceAll("<", "&lt;")],
];

/** An error of the network that says it in its message, its stack, its fields and its causes. */
function failing(text: string): Error {
  const inner = Object.assign(new Error(`inner ${text}`), { address: text, code: text });
  const cause = new Error(`outer ${text}`, { cause: inner });
  return Object.assign(cause, { code: "ENOTFOUND", syscall: "getaddrinfo", hostname: text, request: text });
}

describe.each(spellings)("a key written %s", (_how, text) => {
  test.each(operationCalls)("in an agent's error is not in the error of $operation", async ({ call }) => {
    const agent = new Agent();
    Object.assign(agent, {
      createConnection: (_options: object, callback: (error: Error) => void) => void callback(failing(text)),
    });
    const error = await failureOf(() => call(connect(server.url, { agent })));
    expect(error).toMatchObject({ executed: "no", codeSource: "transport" });
    expect(error.message).toContain("outer");
    expect(error.cause).toMatchObject({
      code: "ENOTFOUND",
      cause: { message: expect.stringMatching("inner") },
    });
    expect(leaksOf(error)).toEqual([]);
  });

  test.each(operationCalls)(
    "in a fetch function's error is not in the error of $operation",
    async ({ call }) => {
      const fetch = () => Promise.reject(new TypeError("fetch failed", { cause: failing(text) }));
      const error = await failureOf(() => call(connect("https://api.example.com", { fetch })));
      expect(error.message).toContain("outer");
      expect(error.cause).toMatchObject({
        cause: { code: "ENOTFOUND", hostname: expect.stringMatching(/redacted/) },
      });
      expect(error.cause).not.toHaveProperty("cause.request");
      expect(leaksOf(error)).toEqual([]);
    },
  );

  test("in an error that an agent throws at once is not in the error of the call", async () => {
    const agent = new Agent();
    Object.assign(agent, {
      createConnection() {
        throw failing(text);
      },
    });
    const error = await failureOf(() => connect(server.url, { agent }).deployments.scale("p", 1));
    expect(leaksOf(error)).toEqual([]);
    expect(server.requests).toEqual([]);
  });
});
