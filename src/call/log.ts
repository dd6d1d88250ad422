// Writes log lines. Loaded only if attempts are logged.

import { requests } from "../generated/contract.js";
import { logLevels } from "../options/table.js";
import type { AttemptEvent, ClientOptions } from "../options/types.js";
import type { RequestRules } from "../options/validate.js";
import { memberOf } from "../values.js";
import type { Log } from "./types.js";

const longestBody = 10_000;

/** Writes one line for an attempt, to stderr if there is no logger. @returns what the logger returns */
export function writeLine(
  { logger, logLevel = "info", logBodies }: Pick<ClientOptions, "logger" | "logLevel" | "logBodies">,
  ...[event, exchange]: Parameters<Log>
): unknown {
  const severity = event.code === undefined ? "info" : event.waitMs === undefined ? "error" : "warn";
  if (logLevels.indexOf(severity) > logLevels.indexOf(logLevel)) return undefined;
  const { host, cause, ...always } = event;
  const asked = {
    ...(logLevel === "debug" && { host, cause: cause instanceof Error ? cause.message : undefined }),
    ...(logBodies === true && bodiesOf(exchange)),
  };
  const message = lineOf(event, asked);
  if (logger === undefined) return console.error(message);
  if (typeof logger !== "function") return logger[severity](message);
  // The event's fields come last, so that no field of a request body replaces one of them.
  return logger(severity, { ...logFields(exchange), ...always, ...asked, message } as never);
}

function lineOf(event: AttemptEvent, asked: object): string {
  const { operation, method, path, number, httpStatus, code, requestId, durationMs, waitMs } = event;
  const pairs = {
    attempt: number,
    status: httpStatus,
    code,
    request_id: requestId,
    ms: Math.round(durationMs),
    wait_ms: waitMs === undefined ? undefined : Math.round(waitMs),
    ...asked,
  };
  const shown = Object.entries(pairs)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${fieldText(value)}`);
  return ["tunerank", operation, method, path, ...shown].join(" ");
}

// The fields of a log record: ids, numbers, list lengths and names of the request; never a user's free text.
function logFields({ request: { operation, ids, content }, result }: Parameters<Log>[1]): object {
  const fields: Record<string, unknown> =
    "data" in result
      ? { tokens: memberOf(memberOf(result.data, "usage"), "total_tokens") }
      : { executed: result.executed };
  if (operation === "request") return fields;
  for (const [name, id] of Object.entries(ids ?? {})) fields[name.replace(/_id$/, "")] = id;
  const { body }: RequestRules = requests[operation];
  for (const [name, { pattern }] of Object.entries(body?.properties ?? {})) {
    const value = memberOf(content, name);
    // A string whose rules have a `pattern` is a name, not free text: it may be logged.
    if (Array.isArray(value)) fields[name] = value.length;
    else if (typeof value === "string" ? pattern : typeof value !== "object") fields[name] = value;
  }
  return fields;
}

// The bodies of the request and the response; bytes and files are left out.
function bodiesOf({
  request: { body },
  result,
  redact,
}: Parameters<Log>[1]): Record<"request" | "response", string | undefined> {
  const got = "data" in result ? result.response.text : result.body;
  const text = typeof got === "string" ? got : JSON.stringify(got);
  const shown = (value: string | undefined) => value && redact(value.slice(0, longestBody), true);
  return { request: shown(typeof body === "string" ? body : undefined), response: shown(text) };
}

// Quotes and escapes a value that is not one plain word, so that a log line stays one line.
function fieldText(value: unknown): string {
  const text = String(value);
  return /^[\w.:@/+-]+$/.test(text)
    ? text
    : JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029]/g, "?");
}
