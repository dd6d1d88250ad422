import { describe, expect, test } from "vitest";
import type { RetryEvent } from "../../src/errors/codes.js";
import { Failure } from "../../src/errors/failure.js";
import type { AttemptEvent, Client, ClientOptions, NotRetried, StatusError } from "../../src/index.js";
import { budget } from "../../src/policy/decisions.js";
import { eventsOfResponse, executedAfter } from "../../src/policy/ofResponse.js";
import { nothingSent, type Ran, worse } from "../../src/policy/retry.js";
import { useNoBackoff } from "../support/backoff.js";
import { connect, failureOf, thrownBy } from "../support/clients.js";
import { decideOf, type RetryInput, usual } from "../support/decisionRows.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { inTurn, reset, unavailable } from "../support/responses.js";

// Why there is no other attempt, and what is known of all attempts together: pure, row by row.
describe("why it was not repeated", () => {
  const upload: RetryInput = { ...usual, operation: "uploadDatasetFile", timeLeftMs: 600_000, random: 0 };

  test.each<[what: string, reason: string | undefined, Partial<RetryInput>]>([
    ["an event that the table retries", undefined, {}],
    ["a refusal", "refused", { events: ["refused"] }],
    ["a refusal beside a transient event", "refused", { events: ["unavailable", "refused"] }],
    ["a connection lost in an upload", "not-safe", { events: ["connectionLost"] }],
    ["two events of an upload, both transient", "not-safe", { events: ["connectionLost", "gateway"] }],
    ["a 429 of an upload that names no time", "no-retry-after", { events: ["exhausted"] }],
    ["the same, if it may have run", "not-safe", { events: ["exhausted", "gateway"] }],
    ["two events, one of them not transient", "not-transient", { events: ["connectionLost", "dataLoss"] }],
    ["data loss", "not-transient", { events: ["dataLoss"] }],
    ["data loss of what is safe", "not-transient", { events: ["dataLoss"], operation: "rerankDocuments" }],
    ["a fault named to a scale", "not-transient", { events: ["namedFault"], operation: "scaleDeployment" }],
    ["the same of an idempotent upload", undefined, { events: ["namedFault"], idempotent: true }],
    ["a 401 that no fresh key can satisfy", "refused", { events: ["unauthenticated"] }],
    ["the same after a retry", "retries-used-up", { events: ["unauthenticated"], retries: 1 }],
    ["a 401 that a fresh key can satisfy", undefined, { events: ["unauthenticated"], freshKey: true }],
    ["a stream", "single-use-body", { replayable: false }],
    ["as many retries as the caller allows", "retries-used-up", { retries: 1, maxRetries: 1 }],
    ["as many retries as the table allows", "retries-used-up", { retries: 2, maxRetries: 9 }],
    ["an empty budget", "budget", { budget: budget.retryCost - 0.1 }],
    ["a wait of more than 60 s", "asked-to-wait-too-long", { retryAfterMs: 60_001 }],
    ["the same without a retry left", "asked-to-wait-too-long", { retryAfterMs: 60_001, maxRetries: 0 }],
    ["a wait up to the deadline", "deadline-too-close", { retryAfterMs: 5_000, timeLeftMs: 5_000 }],
  ])("after %s the reason is %s", (_what, reason, changes) => {
    const { notRetried, waitMs } = decideOf({ ...upload, ...changes });
    expect(notRetried).toBe(reason);
    expect(waitMs === undefined).toBe(reason !== undefined);
  });

  const refused: Ran = { executed: "no", executedBecause: "refused" };
  const lost: Ran = { executed: "unknown", executedBecause: "no-answer" };
  const unclear: Ran = { executed: "unknown", executedBecause: "unclear-answer" };
  const began: Ran = { executed: "yes", executedBecause: "success-began" };

  test("before the first attempt nothing was sent", () => {
    expect(nothingSent).toEqual({ executed: "no", executedBecause: "nothing-sent" });
  });

  test.each<[a: Ran, b: Ran, worst: Ran]>([
    [nothingSent, refused, refused],
    [refused, nothingSent, refused],
    [refused, lost, lost],
    [lost, refused, lost],
    [lost, nothingSent, lost],
    [lost, began, began],
    [began, lost, began],
    [began, nothingSent, began],
    // Of two that may have run, the last one is what the caller can look at.
    [lost, unclear, unclear],
  ])("of %j and %j the worse is %j", (a, b, worst) => {
    expect(worse(a, b)).toEqual(worst);
  });

  test.each<[what: string, Pick<Failure, "executed"> & Partial<Failure>, Ran]>([
    ["that was never sent", { executed: "no" }, nothingSent],
    ["that was refused", { executed: "no", httpStatus: 429 }, refused],
    ["of a proxy", { executed: "no", httpStatus: 407, executedBecause: "nothing-sent" }, nothingSent],
    ["whose response is unclear", { executed: "unknown", httpStatus: 500 }, unclear],
    ["without a response", { executed: "unknown" }, lost],
    ["that succeeded at first", { executed: "yes", httpStatus: 200 }, began],
  ])("of an attempt %s", (_what, attempt, ran) => {
    const { executed, executedBecause } = new Failure({ message: "", code: "UNKNOWN", ...attempt });
    expect({ executed, executedBecause }).toEqual(ran);
  });

  test.each<[RetryEvent[], string]>([
    [["refused"], "no"],
    [["refused", "connectionLost"], "unknown"],
    [["connectionLost", "refused"], "unknown"],
    [["connectionLost", "bodyLost"], "yes"],
    [["bodyLost", "connectionLost"], "yes"],
  ])("after %j the operation may have run: %s", (events, executed) => {
    expect(executedAfter(events)).toBe(executed);
  });
});

test.each([
  ["UNAVAILABLE", 500, ["unavailable", "unnamedFault"]],
  ["UNAVAILABLE", 421, ["unavailable", "unprocessed"]],
  ["NOT_FOUND", 503, ["refused", "gateway"]],
  ["RESOURCE_EXHAUSTED", 503, ["exhausted", "gateway"]],
] as const)("a name at odds with its status is both: %s on %i is %j", (code, status, events) => {
  expect(eventsOfResponse(code, status, false)).toEqual(events);
});

// Why was it not retried? What the decision table does not say; test/all/conformance.test.ts asks it of every row.
describe("what the table does not say", () => {
  const server = useRecordingServer();
  useNoBackoff();

  function expectReason(error: StatusError, notRetried: NotRetried, hint: RegExp): void {
    expect(error.notRetried).toBe(notRetried);
    expect(error.hint).toMatch(hint);
    expect(error.message.endsWith(error.hint)).toBe(true);
    expect(JSON.parse(JSON.stringify(error)).notRetried).toBe(notRetried);
  }

  const retrying = (more: ClientOptions = {}): Client => connect(server.url, { maxRetries: 2, ...more });

  test("a client that has spent its retries says so", async () => {
    server.reply(unavailable);
    const client = retrying();
    const scale = () => failureOf(() => client.deployments.scale("prod", 1));
    for (let calls = 0; calls < 5; calls += 1)
      expectReason(await scale(), "retries-used-up", /Gave up after 3 attempts\.$/);
    const error = await scale();
    expect(error.attempts).toHaveLength(1);
    expectReason(error, "budget", /used up its retries for now/);
  });

  const tooClose = /The service asks to wait 5 s\. No time is left for another attempt\.$/;
  const tooLong = /The service asks to wait 60\.001 s\. .*no call waits that long/;
  test.each<[what: string, seconds: number, timeoutMs: number, reason: NotRetried, hint: RegExp]>([
    ["a wait that does not fit the deadline", 5, 4500, "deadline-too-close", tooClose],
    ["a wait of exactly the deadline", 5, 5000, "deadline-too-close", tooClose],
    ["a wait of more than a minute", 60.001, 600_000, "asked-to-wait-too-long", tooLong],
  ])("%s says so", async (_what, seconds, timeoutMs, reason, hint) => {
    server.reply({ ...unavailable, headers: { "retry-after": `${seconds}` } });
    const error = await failureOf(() => retrying().deployments.scale("prod", 1, { timeoutMs }));
    expectReason(error, reason, hint);
  });

  test("a call aborted during a wait says so, and what its attempt met", async () => {
    server.reply({ ...unavailable, headers: { "retry-after": "20" } });
    const controller = new AbortController();
    const cause = new Error("the user went away");
    const onAttempt = ({ waitMs }: AttemptEvent) => void (waitMs === 20_000 && controller.abort(cause));
    const error = await failureOf(() =>
      retrying().deployments.scale("prod", 1, { signal: controller.signal, onAttempt }),
    );
    expectReason(error, "aborted", /\.$/);
    expect(error).toMatchObject({
      code: "CANCELLED",
      executed: "unknown",
      executedBecause: "unclear-answer",
    });
    expect(error).toMatchObject({ codeSource: "client", cause, attempts: [{ code: "UNAVAILABLE" }] });
    expect(server.requests).toHaveLength(1);
  });

  test("a key that cannot be had says so, whatever an attempt before it met", async () => {
    server.reply(inTurn(reset));
    const apiKey = () => {
      if (server.requests.length > 0) throw new Error("the vault is closed");
      return "a-key";
    };
    const error = await failureOf(() => retrying({ apiKey }).deployments.scale("prod", 1));
    const ran = { executed: "unknown", executedBecause: "no-answer" };
    expect(error).toMatchObject({ code: "UNAUTHENTICATED", ...ran });
    expect(error.attempts).toHaveLength(1);
    expect(error.text).toContain("The apiKey function failed");
    expectReason(error, "refused", /^A retry of this call is safe\.$/);
  });

  test("a 429 that names no time says so", async () => {
    server.reply({ status: 429, json: { code: "RESOURCE_EXHAUSTED" } });
    const resumed = await failureOf(() => retrying().reinforcementFineTuningJobs.resume("job-1"));
    expectReason(resumed, "no-retry-after", /gave no time to wait: call again later\.$/);
    const scaled = await failureOf(() => retrying().deployments.scale("prod", 1));
    expectReason(scaled, "retries-used-up", /Gave up after 2 attempts\.$/);
  });

  test("an error that belongs to no call says nothing of retries", () => {
    expect(thrownBy(() => connect("ftp://api.example.com"))).not.toHaveProperty("notRetried");
  });
});
