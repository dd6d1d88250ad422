import { describe, expect, test } from "vitest";
import type { Client } from "../../src/index.js";
import { connect, failureOf } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";

const server = useRecordingServer();

const encoded: readonly (readonly [what: string, id: string, segment: string])[] = [
  ["a space", "my job", "my%20job"],
  ["a colon", "job:1", "job%3A1"],
  ["a verb", "job:resume", "job%3Aresume"],
  ["letters outside ASCII", "café-検索", "caf%C3%A9-%E6%A4%9C%E7%B4%A2"],
  ["a pair of surrogates", "job-🔎", "job-%F0%9F%94%8E"],
  ["a template's braces", "{account_id}", "%7Baccount_id%7D"],
  ["replacement patterns", "$&$1", "%24%26%241"],
  ["dots within", "v1.2..3", "v1.2..3"],
  ["three dots", "...", "..."],
  ["signs", "a+b@c=d&e;f,g|h^i", "a%2Bb%40c%3Dd%26e%3Bf%2Cg%7Ch%5Ei"],
  ["256 characters", "x".repeat(256), "x".repeat(256)],
];

const refused: readonly (readonly [what: string, id: unknown])[] = [
  ["empty", ""],
  ["a dot", "."],
  ["two dots", ".."],
  ["a slash", "a/b"],
  ["a full resource name", "accounts/acme/deployments/prod"],
  ["a backslash", "a\\b"],
  ["a question mark", "a?b"],
  ["a number sign", "a#b"],
  ["a percent sign", "a%2Fb"],
  ["a line break", "a\nb"],
  ["a NUL", "a\0b"],
  ["a DEL", "a\x7fb"],
  ["a C1 control", "a\x85b"],
  ["the last C1 control", "a\x9fb"],
  ["a lone high surrogate", "a\ud83d"],
  ["a lone low surrogate", "\udd0eb"],
  ["257 characters", "x".repeat(257)],
  ["undefined", undefined],
  ["null", null],
  ["a number", 7],
  ["an object with toString", { toString: () => "job-1" }],
  ["a symbol", Symbol("job-1")],
];

type Call = (client: Client, id: string) => PromiseLike<unknown>;
const bytes = new Uint8Array([1]);
const calls: readonly (readonly [argument: string, call: Call, path: (segment: string) => string])[] = [
  [
    "jobId",
    (client, id) => client.reinforcementFineTuningJobs.resume(id),
    (segment) => `/v1/accounts/acme/reinforcementFineTuningJobs/${segment}:resume`,
  ],
  [
    "deploymentId",
    (client, id) => client.deployments.scale(id, 1),
    (segment) => `/v1/accounts/acme/deployments/${segment}:scale`,
  ],
  [
    "datasetId",
    (client, id) => client.datasets.upload(id, bytes, { name: "f" }),
    (segment) => `/v1/accounts/acme/datasets/${segment}:upload`,
  ],
  [
    "accountId",
    (client, accountId) => client.deployments.scale("prod", 1, { accountId }),
    (segment) => `/v1/accounts/${segment}/deployments/prod:scale`,
  ],
];

describe.each(calls)("%s", (argument, call, path) => {
  test.each(encoded)("with %s is sent as one encoded segment", async (_what, id, segment) => {
    await call(connect(server.url), id);
    expect(server.only.url).toBe(path(segment));
    expect(decodeURIComponent(segment)).toBe(id);
  });

  // The account's undefined means the client's own.
  test.each(refused.filter(([what]) => argument !== "accountId" || !/^(undefined|null)$/.test(what)))(
    "with %s is refused before anything is sent",
    async (_what, id) => {
      const error = await failureOf(() => call(connect(server.url), id as string));
      expect(error).toMatchObject({
        code: "INVALID_ARGUMENT",
        executed: "no",
        codeSource: "client",
        inferred: true,
        attempts: [],
      });
      expect(error.message).toContain(argument);
      expect(error.operation).toBeDefined();
      expect(server.requests).toEqual([]);
    },
  );
});
