import type { ResponseHeaders } from "../errors/details.js";
/**
 * The shortest wait that an answer asks for, in milliseconds: the longest of `retry-after-ms`, `retry-after` in
 * seconds or as a date of RFC 9110, and what its body says.
 */
export function retryAfterMs(
  headers: ResponseHeaders,
  bodyMs: number | undefined,
  now: number,
): number | undefined {
  const asked = [
    milliseconds(shortHeader(headers, "retry-after-ms"), 1),
    milliseconds(shortHeader(headers, "retry-after"), 1000),
    untilDate(headers, now),
    bodyMs,
  ].filter((ms) => ms !== undefined);
  return asked.length === 0 ? undefined : Math.max(...asked);
}

// Against the answer's own clock, which may differ from this machine's.
function untilDate(headers: ResponseHeaders, now: number): number | undefined {
  const date = parseDate(shortHeader(headers, "retry-after"), now);
  if (date === undefined) return undefined;
  return Math.max(0, date - (parseDate(shortHeader(headers, "date"), now) ?? now));
}

const day = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
const month = "(?<month>[A-Z][a-z]{2})";
const time = "(?<time>\\d{2}:\\d{2}:\\d{2})";
// The three forms of RFC 9110, section 5.6.7.
const forms = [
  `${day}, (?<date>\\d{2}) ${month} (?<year>\\d{4}) ${time} GMT`,
  `${day}[a-z]{3,6}, (?<date>\\d{2})-${month}-(?<year>\\d{2}) ${time} GMT`,
  `${day} ${month} (?<date>[ \\d]\\d) ${time} (?<year>\\d{4})`,
].map((form) => new RegExp(`^${form}$`));

function parseDate(text = "", now: number): number | undefined {
  const found = forms.map((form) => form.exec(text)?.groups).find(Boolean);
  if (found === undefined) return undefined;
  const { date, month, year = "", time } = found;
  const ms = Date.parse(
    `${date} ${month} ${year.length === 2 ? yearNear(now, Number(year)) : year} ${time} GMT`,
  );
  return Number.isNaN(ms) ? undefined : ms;
}

// Two digits more than 50 years ahead mean the century before.
function yearNear(now: number, digits: number): number {
  const thisYear = new Date(now).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + digits;
  return year > thisYear + 50 ? year - 100 : year;
}

// Node's fetch leaves the tabs around a value. No time is long.
function shortHeader(headers: ResponseHeaders, name: string): string | undefined {
  const value = header(headers, name);
  return value && value.length < 100 ? value.replace(/^[\t ]+|[\t ]+$/g, "") : undefined;
}

/** A header that is there and not empty. */
export function header(headers: ResponseHeaders, name: string): string | undefined {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return value === "" ? undefined : value;
}

/** A decimal number of units as milliseconds, rounded up: waiting that long is never too short. Undefined for any other text. */
export function milliseconds(text: unknown, unitMs: number): number | undefined {
  const [, whole, part = "0"] = (typeof text === "string" && /^(\d+)(?:\.(\d+))?$/.exec(text)) || [];
  if (whole === undefined) return undefined;
  // Without the error of binary fractions: 16.1 s are not 16,101 ms.
  const rest = Math.ceil(Number((Number(`0.${part}`) * unitMs).toFixed(9)));
  return Math.min(Number(whole) * unitMs + rest, Number.MAX_SAFE_INTEGER);
}
