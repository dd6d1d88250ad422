/** A decimal number of units as milliseconds, rounded up: waiting that long is never too short. Undefined for any other text. */
export function milliseconds(text: unknown, unitMs: number): number | undefined {
  if (typeof text !== "string" || !/^\d+(\.\d+)?$/.test(text)) return undefined;
  // Without the error of binary fractions: 16.1 s are not 16,101 ms.
  return Math.min(Math.ceil(Number((Number(text) * unitMs).toFixed(6))), Number.MAX_SAFE_INTEGER);
}
