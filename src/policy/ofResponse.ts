// What an error response means for a retry: its events, whether the operation ran, and the wait that it asks for.
import type { Executed, ResponseHeaders, RetryEvent, StatusCode } from "../errors/codes.js";
import { httpStatuses } from "../generated/contract.js";
import { events, rowOfStatus } from "./decisions.js";
import { header, severity } from "./retry.js";

/** The event of each code that a response can name. */
export const eventOfCode: Readonly<Record<StatusCode, RetryEvent>> = {
  CANCELLED: "cancelled",
  UNKNOWN: "namedFault",
  INVALID_ARGUMENT: "refused",
  DEADLINE_EXCEEDED: "deadline",
  NOT_FOUND: "refused",
  ALREADY_EXISTS: "refused",
  PERMISSION_DENIED: "refused",
  UNAUTHENTICATED: "unauthenticated",
  RESOURCE_EXHAUSTED: "exhausted",
  FAILED_PRECONDITION: "refused",
  ABORTED: "refused",
  OUT_OF_RANGE: "refused",
  UNIMPLEMENTED: "refused",
  INTERNAL: "namedFault",
  UNAVAILABLE: "unavailable",
  DATA_LOSS: "dataLoss",
};

/** The events of an error response: of the code it names, and of its status if it names none or the two disagree. */
export function eventsOfResponse(
  named: StatusCode | undefined,
  httpStatus: number,
  timed: boolean,
): readonly RetryEvent[] {
  const ofStatus = withTime(rowOfStatus(httpStatus)[1], timed);
  if (named === undefined) return [ofStatus];
  const ofCode = withTime(eventOfCode[named], timed);
  return httpStatuses[named] === httpStatus ? [ofCode] : [ofCode, ofStatus];
}

function withTime(event: RetryEvent, timed: boolean): RetryEvent {
  return timed && event === "exhausted" ? "exhaustedTimed" : event;
}

/** Whether the operation ran: the most severe `executed` of an attempt's events. */
export function executedAfter(happened: readonly RetryEvent[]): Executed {
  return happened
    .map((event) => events[event].executed)
    .reduce((a, b) => (severity.indexOf(a) > severity.indexOf(b) ? a : b));
}

/**
 * The wait that a response asks for, in milliseconds: the longest of all lines of `retry-after-ms`, of `retry-after` in
 * seconds or as a date of RFC 9110, and of the wait in its body.
 */
export function retryAfterMs(
  headers: ResponseHeaders,
  bodyMs: number | undefined,
  now: number,
): number | undefined {
  // A date counts from the response's Date header, as the server's clock may differ from this machine's.
  const sent = (): number => parseDate(headerLines(headers, "date")[0], now) ?? now;
  const inMs = headerLines(headers, "retry-after-ms").map((line) => milliseconds(line, 1));
  const others = headerLines(headers, "retry-after");
  const inSeconds = others.map((line) => milliseconds(line, 1000) ?? parseDate(line, now, sent()));
  const asked = [bodyMs, ...inMs, ...inSeconds].filter((ms) => ms !== undefined);
  return asked.length > 0 ? Math.max(...asked) : undefined;
}

const day = "[A-Z][a-z]{2}";
const month = `(?<month>${day})`;
const time = "(?<time>\\d{2}:\\d{2}:\\d{2})";
// The three forms of a date in RFC 9110, section 5.6.7.
const forms = [
  `${day}, (?<date>\\d{2}) ${month} (?<year>\\d{4}) ${time} GMT`,
  `${day}[a-z]{3,6}, (?<date>\\d{2})-${month}-(?<year>\\d{2}) ${time} GMT`,
  `${day} ${month} (?<date>[ \\d]\\d) ${time} (?<year>\\d{4})`,
].map((form) => new RegExp(`^${form}$`));

// Parses a date to the milliseconds from `since`, or 0 for a date before it; by default since 1970.
function parseDate(text = "", now: number, since = 0): number | undefined {
  const found = forms.map((form) => form.exec(text)?.groups).find(Boolean);
  if (found === undefined) return undefined;
  const { date, month, year = "", time } = found;
  const thisYear = new Date(now).getUTCFullYear();
  const near = thisYear - (thisYear % 100) + Number(year);
  // A two-digit year that would be more than 50 years ahead belongs to the previous century.
  const whole = year.length > 2 ? year : near > thisYear + 50 ? near - 100 : near;
  const ms = Date.parse(`${date} ${month} ${whole} ${time} GMT`);
  return Number.isNaN(ms) ? undefined : Math.max(0, ms - since);
}

// The lines of a repeated header, which platforms join with commas; a date is not split at its own comma. A value of
// 100 or more characters is no time, and is ignored.
function headerLines(headers: ResponseHeaders, name: string): readonly string[] {
  const value = header(headers, name) ?? "";
  return value && value.length < 100 ? value.split(/,(?! \d\d[ -])/).map((line) => line.trim()) : [];
}

/** Converts a decimal number of units to milliseconds, rounded up: no wait is too short. Undefined for other texts. */
export function milliseconds(text: unknown, unitMs: number): number | undefined {
  const [, whole, part = "0"] = (typeof text === "string" && /^(\d+)(?:\.(\d+))?$/.exec(text)) || [];
  if (whole === undefined) return undefined;
  // toFixed removes the error of binary fractions: 16.1 s are not 16,101 ms.
  const rest = Math.ceil(Number((Number(`0.${part}`) * unitMs).toFixed(9)));
  return Math.min(Number(whole) * unitMs + rest, Number.MAX_SAFE_INTEGER);
}
