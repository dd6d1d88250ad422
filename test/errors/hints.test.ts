import { expect, test } from "vitest";
import { isIdempotentKind, type NotRetried } from "../../src/errors/codes.js";
import { adviceFor, reasonFor, sentences } from "../../src/errors/hints.js";
import {
  httpStatuses,
  type OperationId,
  type OperationRow,
  operations,
} from "../../src/generated/contract.js";
import type { Client, StatusCode } from "../../src/index.js";
import { codeOfHttpStatus } from "../../src/policy/decisions.js";
import { connect, failureOf, operationCalls } from "../support/clients.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { textOf } from "../support/withHint.js";

const server = useRecordingServer();

// A few words of what helps.
const remedies: readonly (readonly [status: number, remedy: RegExp])[] = [
  [401, /Check apiKey or TUNERANK_API_KEY/],
  [402, /billing/],
  [403, /lacks a permission/],
  [406, /Check that baseUrl is the service itself/],
  [407, /^The proxy needs its own user name and password/],
  [410, /gone: use another id/],
  [411, /pass size, or a path, a Blob or bytes/],
  [413, /Send a smaller request/],
  [414, /a shorter id or base URL/],
  [415, /the media type of the file/],
  [417, /leave out your own headers/],
  [421, /check baseUrl and the proxies/],
  [424, /that this one depends on failed/],
  [426, /check scheme and port of baseUrl/],
  [428, /If-Match/],
  [431, /shorter headers, or a shorter key/],
  [451, /legal reasons/],
];

const refused = async (status: number, call = scale) => {
  server.reply({ status, text: "" });
  return failureOf(() => call(connect(server.url)));
};
const scale = (client: Client): Promise<unknown> => client.deployments.scale("prod", 1);
const rerank = (client: Client): Promise<unknown> => client.rerank({ query: "q", documents: ["d"] });

test.each(remedies)("HTTP %i has a hint that says what helps", async (status, remedy) => {
  const error = await refused(status);
  expect(error.hint).toMatch(remedy);
  if (status !== 401) expect(error.hint).not.toContain("TUNERANK_API_KEY");
  expect(error).toMatchObject({ executed: "no", executedBecause: "refused" });
});

test("a value that the service refuses without naming it is not called the argument", async () => {
  expect(await refused(400)).toMatchObject({ code: "INVALID_ARGUMENT", hint: "" });
});

test("511 asks to sign in to the network, and a rerank may be repeated", async () => {
  expect((await refused(511, rerank)).hint).toMatch(
    /sign in first.* A retry of this call is safe\. The call was not retried: it would most likely fail again\.$/,
  );
});

test("a rerank that ran is not called safe to repeat, since each run is paid for", async () => {
  server.reply({ json: { data: [{ index: 0 }] } });
  const error = await failureOf(() => rerank(connect(server.url)));
  expect(error).toMatchObject({ executed: "yes", code: "INTERNAL" });
  expect(error.message).not.toContain("safe");
});

test("413 says of each operation what to send less of", async () => {
  const ranked = await refused(413, rerank);
  expect(ranked.hint).toBe("Send fewer documents at once (rerank.items with batchSize).");
  const uploaded = await refused(413, ({ datasets }) => datasets.upload("d", new Blob(["a"]), { name: "a" }));
  expect(uploaded.hint).toBe(
    "Send a smaller file: larger ones need another operation of the service, which this client does not have.",
  );
});

test("101 is somebody else's response", async () => {
  server.reply((_request, response) => {
    response.writeHead(101, { connection: "upgrade", upgrade: "websocket" }).end();
    return undefined;
  });
  const error = await failureOf(() => rerank(connect(server.url)));
  expect(textOf(error)).toBe("[INTERNAL] The server changed to another protocol (HTTP 101).");
  expect(error.hint).toMatch(/^Check that baseUrl is the service itself/);
});

const page = `<!DOCTYPE html>\n<html><head><style>p > b { color: red }</style></head>
    <body><!-- a > b --><script>if (a < b) alert("x")</script>
    <h1>Access   denied</h1><p class="a">Your <b>request</b> was blocked.</p></body></html>`;
const titled = page.replace("<style>", "<TITLE lang=en>\n 403\n Forbidden </TITLE><style>");

test.each([
  ["its first words", page, "Access denied Your request was blocked."],
  ["its title", titled, "403 Forbidden."],
  ["its words without a last tag cut in half", `<p>Blocked</p><a href="https://example.com`, "Blocked."],
  ["the words of XML", "<?xml version='1.0'?><Error><Code>Denied</Code></Error>", "Denied."],
  ["its status where it has no words", "<html><body><img></body></html>", "HTTP 403 without a message."],
  ["at most 200 characters", `<p>${"word ".repeat(1000)}</p>`, `${"word ".repeat(40).trimEnd()}.`],
])("a page as an error body gives %s", async (_what, text, message) => {
  server.reply({ status: 403, text });
  const error = await failureOf(() => scale(connect(server.url)));
  expect(textOf(error)).toBe(`[PERMISSION_DENIED] ${message}`);
  expect(error.body).toBe(text.slice(0, 4096));
});

test.each(operationCalls)(
  "what $operation may have done comes before how it was refused",
  async ({ call, operation }) => {
    server.reply({ status: 413, json: { code: "INTERNAL" } });
    const error = await failureOf(() => call(connect(server.url)));
    expect(error.executed).toBe("unknown");
    const { kind, whenUnknown } = operations[operation] as OperationRow;
    if (isIdempotentKind[kind]) expect(error.hint).not.toContain("other operations");
    else expect(error.hint).toContain(whenUnknown);
  },
);

const reasons: readonly NotRetried[] = [
  ...(["not-transient", "not-safe", "no-retry-after", "single-use-body", "retries-used-up"] as const),
  ...(["budget", "deadline-too-close", "asked-to-wait-too-long", "refused", "aborted"] as const),
];

test("no hint of a call that is safe to repeat says that it is not", () => {
  for (const operation of Object.keys(operations) as OperationId[]) {
    for (const code of Object.keys(httpStatuses).filter((name) => name !== "OK") as StatusCode[]) {
      const hint = adviceFor({ code, executed: "unknown", operation });
      expect(hint.includes("is safe")).toBe(isIdempotentKind[operations[operation].kind]);
    }
  }
});

test("every hint is a sentence or several; a rejected value has none, as the message names it", () => {
  const [without, rejected]: number[][] = [[], []];
  for (let httpStatus = 100; httpStatus < 600; httpStatus += 1) {
    const { code } = codeOfHttpStatus(httpStatus);
    const advice = adviceFor({ code, executed: "no", httpStatus, requestId: "req-1" });
    if (advice === "") without?.push(httpStatus);
    if (code === "INVALID_ARGUMENT") rejected?.push(httpStatus);
    for (const notRetried of advice === "" ? [] : reasons) {
      expect(sentences(advice, reasonFor({ notRetried, retryAfterMs: 1500 }))).toMatch(
        /^[A-Z].{15,}\. The service asks to wait 1\.5 s\.( .*\.)?$/,
      );
    }
  }
  expect(without).toEqual(rejected);
});

test.each(["INTERNAL", "UNKNOWN"] as const)(
  "to report %s is advised with the request id, and not where there is none",
  async (code) => {
    const known = adviceFor({ code, executed: "no", requestId: "req-1" });
    expect(known).toBe("Report it to whoever runs the service, with the request id req-1.");
    expect(adviceFor({ code, executed: "no" })).toBe("");
    const reply = { status: 500, json: { code, message: "Something broke." } };
    server.reply({ ...reply, headers: { "x-request-id": "req-7" } });
    const rank = () => rerank(connect(server.url));
    expect((await failureOf(rank)).message).toContain(
      "Report it to whoever runs the service, with the request id req-7. A retry of",
    );
    server.reply(reply);
    expect((await failureOf(rank)).message).not.toContain("Report");
  },
);

// The messages that the contract shows for these codes.
test.each<[StatusCode, string]>([
  ["NOT_FOUND", "There is no such resource in this account. Check the account id and the resource id."],
  ["FAILED_PRECONDITION", "The resource is not in a state that allows this. Bring it into that state first."],
  ["ABORTED", "Another request changed the same resource. Read it again before you repeat the call."],
  ["RESOURCE_EXHAUSTED", "The account's quota is used up for now. Wait before the next request."],
  ["UNAVAILABLE", "The service cannot answer at the moment. Try again in a little while."],
  ["NOT_FOUND", "Check the id"],
  ["NOT_FOUND", "Check failed: there is no such deployment."],
  ["NOT_FOUND", "The health check of the job failed."],
])(
  "the advice for %s is given whatever the service said, and its text is shown unchanged: %s",
  async (code, message) => {
    server.reply({ status: httpStatuses[code], json: { code, message } });
    const error = await failureOf(() => scale(connect(server.url)));
    const advice = adviceFor({ code, executed: "no" });
    expect(advice).toMatch(/^[A-Z]/);
    expect(error.hint).toContain(advice);
    const whole = `[${code}] ${/[.]$/.test(message) ? message : `${message}.`} ${error.hint}`.trimEnd();
    expect(error.message).toBe(whole);
    expect(error.text).toBe(whole.slice(`[${code}] `.length, whole.length - error.hint.length).trimEnd());
  },
);
