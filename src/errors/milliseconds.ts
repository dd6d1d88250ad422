/** A decimal number of units as milliseconds, rounded up: waiting that long is never too short. Undefined for any other text. */
export function milliseconds(text: unknown, unitMs: number): number | undefined {
  const [, whole, part = "0"] = (typeof text === "string" && /^(\d+)(?:\.(\d+))?$/.exec(text)) || [];
  if (whole === undefined) return undefined;
  // Without the error of binary fractions: 16.1 s are not 16,101 ms.
  const rest = Math.ceil(Number((Number(`0.${part}`) * unitMs).toFixed(9)));
  return Math.min(Number(whole) * unitMs + rest, Number.MAX_SAFE_INTEGER);
}
