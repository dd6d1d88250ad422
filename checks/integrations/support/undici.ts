import assert from "node:assert/strict";
import { createClient, type DispatcherLike, isStatusError, type StatusError } from "tunerank";
import undici7 from "undici-7";
import undici8 from "undici-8";

/** Every undici whose dispatchers a client takes. */
export const versions = [
  ["undici 7", undici7],
  ["undici 8", undici8],
] as const;

/** What is ended with its test. */
export interface Scope {
  after(end: () => unknown): void;
}

/** A client that does not retry, unless it is told to. */
export const clientOf = (baseUrl: string, dispatcher: DispatcherLike, more = {}) =>
  createClient({ baseUrl, apiKey: "test-key", accountId: "acme", maxRetries: 0, dispatcher, ...more });

/** The error that a call rejects with. */
export async function failure(call: PromiseLike<unknown>): Promise<StatusError> {
  const error = await call.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  assert(isStatusError(error));
  return error;
}
