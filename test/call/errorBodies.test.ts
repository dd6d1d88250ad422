import { expect, test } from "vitest";
import { connect, failureOf, transports } from "../support/clients.js";
import { errorRows } from "../support/decisionRows.js";
import { useRecordingServer } from "../support/recordingServer.js";
import { withHint } from "../support/withHint.js";

const server = useRecordingServer();

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
  if (message === null) expect(error.message).toMatch(new RegExp(`^\\[${code}\\] .*HTTP ${status}`));
  else expect(error.message).toBe(withHint(`[${code}] ${message}`, error));
  if (/^[[{].*[\]}]$/.test(body) && body.length < 4096) expect(error.body).toEqual(JSON.parse(body));
  else if (/^[<A-Za-z][^"]*$/.test(body) && message !== null) expect(error.body).toBe(body.trim());
  else if (body.trim() === "" && !bodyBase64) expect(error.body).toBeUndefined();
});

test("every row of the error responses has a name of its own", () => {
  const names = errorRows.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});
