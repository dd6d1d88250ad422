// Loaded only where attempts are logged.

import type { AttemptEvent } from "../options/callOptions.js";
import type { LoggerLike, LogLevel } from "../options/clientOptions.js";
import type { Log } from "./types.js";

type LoggedBodies = Parameters<Log>[1];

/** Writes one line for an attempt, on stderr where there is no logger. */
export type WriteLine = (
  logger: LoggerLike | undefined,
  level: LogLevel,
  event: AttemptEvent,
  bodies: LoggedBodies | undefined,
) => void;

const order = ["error", "warn", "info", "debug"] as const;
const longestBody = 10_000;

export const writeLine: WriteLine = (logger, level, event, bodies) => {
  const severity = severityOf(event);
  if (order.indexOf(severity) > order.indexOf(level as (typeof order)[number])) return;
  const line = lineOf(event, level === "debug", bodies);
  try {
    if (logger === undefined) console.error(line);
    else Promise.resolve(logger[severity](line)).catch(() => {});
  } catch {
    // A logger that fails changes no call.
  }
};

function severityOf({ code, waitMs }: AttemptEvent): "error" | "warn" | "info" {
  if (code === undefined) return "info";
  return waitMs === undefined ? "error" : "warn";
}

function lineOf(event: AttemptEvent, detailed: boolean, bodies: LoggedBodies | undefined): string {
  const { operation, method, path, host, number, httpStatus, code, requestId, durationMs, waitMs } = event;
  const pairs = {
    attempt: number,
    status: httpStatus,
    code,
    request_id: requestId,
    ms: Math.round(durationMs),
    wait_ms: waitMs === undefined ? undefined : Math.round(waitMs),
    host: detailed ? host : undefined,
    cause: detailed && event.cause instanceof Error ? event.cause.message : undefined,
    ...(bodies && bodiesOf(bodies)),
  };
  const shown = Object.entries(pairs).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${fieldText(value)}`],
  );
  return ["tunerank", operation, method, path, ...shown].join(" ");
}

// Bytes and files are left out.
function bodiesOf({
  request,
  result,
  redact,
}: LoggedBodies): Record<"request" | "response", string | undefined> {
  const body = "details" in result ? result.details.body : result.text;
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const shown = (value: string | undefined) => value && redact(value.slice(0, longestBody), true);
  return { request: shown(typeof request === "string" ? request : undefined), response: shown(text) };
}

// In quotes, with escapes, unless it is one plain word: a line stays one line.
function fieldText(value: string | number): string {
  const text = String(value);
  return /^[\w.:@/+-]+$/.test(text)
    ? text
    : JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029]/g, "?");
}
