import { expect, test } from "vitest";
import { readErrorBody } from "../../src/call/errorResponse.js";
import { type Code, codeOfHttpStatus, httpStatusOfCode, type StatusError } from "../../src/index.js";
import { redactorOf } from "../../src/redact/redact.js";
import { wordsFor } from "../../src/transport/node/networkErrors.js";
import { canaryKey } from "../support/canary.js";
import { connect, failureOf, transports } from "../support/clients.js";
import { codeTable } from "../support/contract.js";
import { errorRows } from "../support/decisionRows.js";
import { type Reply, useRecordingServer } from "../support/recordingServer.js";
import { textOf, withHint } from "../support/withHint.js";

const server = useRecordingServer();

function failure(reply: Reply): Promise<StatusError> {
  server.reply(reply);
  return failureOf(() => connect(server.url).deployments.scale("prod", 1));
}

test.each([
  '{"__proto__":{"code":"ABORTED","message":"evil"}}',
  '{"constructor":{"prototype":{"code":"ABORTED"}}}',
  '{"error":{"details":[{"@type":{"toString":1},"retryDelay":"1s"}]}}',
])("what is inherited or no text is not read: %s", async (text) => {
  const error = await failure({ status: 404, text });
  expect(error).toMatchObject({ code: "NOT_FOUND", codeSource: "status" });
  expect(error.message).not.toContain("evil");
  expect(({} as { code?: string }).code).toBeUndefined();
});

test("a body within 64 KiB is read for its code, and beyond 4 KiB it is kept in part", async () => {
  const [message, details] = ["m".repeat(10_000), "d".repeat(70_000)];
  const error = await failure({ status: 409, json: { code: "ABORTED", message, details: message } });
  expect(error).toMatchObject({ code: "ABORTED", codeSource: "body", body: expect.any(String) });
  expect((error.body as string).length).toBeLessThanOrEqual(4096);
  expect(textOf(error).length).toBeLessThanOrEqual(4096 + "[ABORTED] .".length);
  const unread = await failure({ status: 409, json: { details, code: "ALREADY_EXISTS" } });
  expect(unread).toMatchObject({ code: "ABORTED", codeSource: "status", inferred: true });
  expect((unread.body as string).length).toBeLessThanOrEqual(4096);
});

// Each row over one transport, by turns: what the bytes mean is the same over each.
const rows = errorRows.map((row, at) => ({ row, ...(transports[at % 2] as (typeof transports)[number]) }));

test.each(rows)("HTTP $row.status with $row.name is $row.code over $name", async ({ row, options }) => {
  const { status, headers, body = "", bodyBase64, code, inferred, codeSource, message } = row;
  const bytes = bodyBase64 === undefined ? Buffer.from(body) : Buffer.from(bodyBase64, "base64");
  server.reply((_request, response) => {
    response.writeHead(status, headers).end(bytes);
    return undefined;
  });
  const error = await failureOf(() => connect(server.url, options).deployments.scale("prod", 1));
  expect(error).toMatchObject({ code, inferred, codeSource, httpStatus: status });
  if (codeSource === "status") expect(codeOfHttpStatus(status)).toEqual({ code, inferred });
  if (message === null) expect(error.message).toMatch(new RegExp(`^\\[${code}\\] .*HTTP ${status}`));
  else expect(error.message).toBe(withHint(`[${code}] ${message}`, error));
  if (/^[[{].*[\]}]$/.test(body) && body.length < 4096) expect(error.body).toEqual(JSON.parse(body));
  else if (/^[<A-Za-z][^"]*$/.test(body) && message !== null) expect(error.body).toBe(body.trim());
  else if (body.trim() === "" && !bodyBase64) expect(error.body).toBeUndefined();
});

test.each(codeTable)("httpStatusOfCode(%s) is %i", (code, status) => {
  expect(httpStatusOfCode(code as Code)).toBe(status);
});

test("60,000 hexadecimal digits in a foreign error take no time", () => {
  const text = "A".repeat(60_000);
  const before = process.cpuUsage();
  expect(wordsFor(text, new Error(text))).toBe(text);
  expect(process.cpuUsage(before).user / 1000).toBeLessThan(300);
});

test("an error body of 64 KiB of backslashes costs no more than what is kept of it", () => {
  const redact = redactorOf([canaryKey]);
  const time = (text: string): number => {
    const before = process.cpuUsage();
    for (let i = 0; i < 5; i++) readErrorBody(text, 500, redact);
    return process.cpuUsage(before).user;
  };
  time("\\".repeat(65_536));
  expect(time("\\".repeat(65_536))).toBeLessThan(8 * Math.max(time("\\".repeat(4096)), 2000));
});
