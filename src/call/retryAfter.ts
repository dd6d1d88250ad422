import { milliseconds } from "../errors/milliseconds.js";

type Headers = Readonly<Record<string, string>>;

/**
 * The shortest wait that an answer asks for, in milliseconds: the longest of `retry-after-ms`, `retry-after` in
 * seconds or as a date of RFC 9110, and what its body says.
 */
export function retryAfterMs(headers: Headers, bodyMs: number | undefined, now: number): number | undefined {
  const asked = [
    milliseconds(shortHeader(headers, "retry-after-ms"), 1),
    milliseconds(shortHeader(headers, "retry-after"), 1000),
    untilDate(headers, now),
    bodyMs,
  ].filter((ms) => ms !== undefined);
  return asked.length === 0 ? undefined : Math.max(...asked);
}

// Against the answer's own clock, which may differ from this machine's.
function untilDate(headers: Headers, now: number): number | undefined {
  const date = parseDate(shortHeader(headers, "retry-after"), now);
  if (date === undefined) return undefined;
  return Math.max(0, date - (parseDate(shortHeader(headers, "date"), now) ?? now));
}

const day = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
const time = "(\\d{2}:\\d{2}:\\d{2})";
const fixdate = new RegExp(`^${day}, (\\d{2}) ([A-Z][a-z]{2}) (\\d{4}) ${time} GMT$`);
const rfc850 = new RegExp(`^${day}[a-z]{3,6}, (\\d{2})-([A-Z][a-z]{2})-(\\d{2}) ${time} GMT$`);
const asctime = new RegExp(`^${day} ([A-Z][a-z]{2}) ([ \\d]\\d) ${time} (\\d{4})$`);

/** The three forms of RFC 9110, section 5.6.7. */
function parseDate(text = "", now: number): number | undefined {
  const [, fixDay, fixMonth, fixYear, fixTime] = fixdate.exec(text) ?? [];
  if (fixYear) return timeOf(`${fixDay} ${fixMonth} ${fixYear} ${fixTime}`);
  const [, month, dayOfMonth, clock, year] = asctime.exec(text) ?? [];
  if (year) return timeOf(`${dayOfMonth} ${month} ${year} ${clock}`);
  const [, oldDay, oldMonth, oldYear, oldTime] = rfc850.exec(text) ?? [];
  if (oldYear === undefined) return undefined;
  // Two digits more than 50 years ahead mean the century before.
  const thisYear = new Date(now).getUTCFullYear();
  const nearYear = thisYear - (thisYear % 100) + Number(oldYear);
  return timeOf(`${oldDay} ${oldMonth} ${nearYear > thisYear + 50 ? nearYear - 100 : nearYear} ${oldTime}`);
}

function timeOf(date: string): number | undefined {
  const ms = Date.parse(`${date} GMT`);
  return Number.isNaN(ms) ? undefined : ms;
}

// Node's fetch leaves the tabs around a value. No time is long.
function shortHeader(headers: Headers, name: string): string | undefined {
  const value = header(headers, name);
  return value && value.length < 100 ? value.replace(/^[\t ]+|[\t ]+$/g, "") : undefined;
}

/** A header that is there and not empty. */
export function header(headers: Headers, name: string): string | undefined {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return value === "" ? undefined : value;
}
