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

/** A header that is there and not empty. */
export function header(headers: Readonly<Record<string, string>>, name: string): string | undefined {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return value === "" ? undefined : value;
}
