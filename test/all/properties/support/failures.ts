import assert from "node:assert/strict";
import { inspect } from "node:util";
import { isStatusError, type StatusError } from "../../../../src/index.js";

/** Far more than a case takes on a busy machine, far less than a pattern that backtracks. */
export const quicklyMs = 10_000;

/** What came of a call: its value or its StatusError. Anything else that is thrown, or slowness, fails the test. */
export async function settled<T>(
  run: () => T,
): Promise<{ value: Awaited<T>; error?: never } | { error: StatusError; value?: never }> {
  const started = Date.now();
  try {
    return { value: await run() };
  } catch (error) {
    if (!isStatusError(error)) throw error;
    return { error };
  } finally {
    assert.ok(Date.now() - started < quicklyMs, "It took too long.");
  }
}

const everything = {
  depth: Number.POSITIVE_INFINITY,
  showHidden: true,
  maxStringLength: Number.POSITIVE_INFINITY,
  maxArrayLength: Number.POSITIVE_INFINITY,
} as const;

/** Fails when an error shows a secret in any of the ways in which it may come to be in a log. */
export function hides(error: StatusError, secret: string): void {
  const shown = [String(error), error.stack, JSON.stringify(error), inspect(error, everything)].join("\n");
  const written = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    inspect(secret, everything).slice(1, -1),
    Buffer.from(secret).toString("base64"),
  ];
  for (const form of written) assert.ok(!shown.includes(form), "The error shows the secret.");
}

/** The bytes of a text, for a response of the echo server. */
export function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
