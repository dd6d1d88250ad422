import { readErrorBody, redact } from "../errors/errorBody.js";
import { codeOfHttpStatus, executedOfAnswer } from "../errors/httpStatus.js";
import { parseJson } from "../errors/json.js";
import { StatusError } from "../errors/statusError.js";
import { codes, type OperationId } from "../generated/contract.js";
import type { TransportResponse } from "../transport/transport.js";
import { AttemptFailure, eventsOfAnswer } from "./retry.js";

/** The JSON object of a 2xx answer. @throws AttemptFailure for every other answer. */
export function readAnswer(operation: OperationId, answer: TransportResponse, key: string): object {
  if (answer.status < 200 || answer.status >= 300) throw errorAnswer(operation, answer, key);
  const value = parseJson(answer.text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  // A web page is somebody else's answer: the service may never have seen the request.
  const html = /^\s*</.test(answer.text);
  const error = new StatusError(
    html
      ? `A web page came instead of the service's answer (HTTP ${answer.status}).`
      : `The answer is not the JSON object the contract promises (HTTP ${answer.status}).`,
    {
      code: "INTERNAL",
      executed: html ? "unknown" : "yes",
      codeSource: "client",
      httpStatus: answer.status,
      operation,
      requestId: requestIdOf(answer.headers, key),
      ...(html && {
        hint: "Check that baseUrl is the service itself, not a website, a proxy or a sign-in page.",
      }),
    },
  );
  throw new AttemptFailure(error, [html ? "final" : "notJson"]);
}

function errorAnswer(operation: OperationId, answer: TransportResponse, key: string): AttemptFailure {
  const { status, headers } = answer;
  const said = readErrorBody(answer.text, status, key);
  const read = codeOfHttpStatus(status);
  const redirected = status >= 300 && status < 400;
  const named = said.code !== undefined && !redirected;
  const code = named ? said.code : read.code;
  const message = redirected
    ? `The server redirects to another address (HTTP ${status}), which is never followed.`
    : (said.message ?? `${codes[code].meaning} (HTTP ${status})`);
  const waitMs = retryAfterMs(headers, Date.now());
  const error = new StatusError(message, {
    code,
    executed: executedOfAnswer(code, status, named),
    codeSource: named ? "body" : "status",
    inferred: !named && read.inferred,
    httpStatus: status,
    operation,
    requestId: requestIdOf(headers, key),
    retryAfterMs: waitMs,
    body: said.body,
    ...(redirected && { hint: "Set baseUrl to the final address: the key and the file go nowhere else." }),
  });
  return new AttemptFailure(error, eventsOfAnswer(code, named, status, waitMs !== undefined));
}

/** The answer's `x-request-id`, else `request-id`, without the key should the server have sent it back. */
export function requestIdOf(headers: Readonly<Record<string, string>>, key = ""): string | undefined {
  const id = header(headers, "x-request-id") ?? header(headers, "request-id");
  return id && redact(key, id);
}

/** How long the service asks to wait: `retry-after-ms`, or `retry-after` in seconds or as an IMF-fixdate. */
export function retryAfterMs(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const ms = shortHeader(headers, "retry-after-ms");
  if (ms !== undefined && /^\d{1,12}$/.test(ms)) return Number(ms);
  const value = shortHeader(headers, "retry-after");
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const fixdate = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
  const time = fixdate.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : Math.max(0, time - now);
}

// Node's fetch leaves the tabs around a value. No time is long.
function shortHeader(headers: Readonly<Record<string, string>>, name: string): string | undefined {
  const value = header(headers, name);
  return value && value.length < 100 ? value.replace(/^[\t ]+|[\t ]+$/g, "") : undefined;
}

function header(headers: Readonly<Record<string, string>>, name: string): string | undefined {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return value === "" ? undefined : value;
}
