import { invalid } from "../errors/statusError.js";
import {
  checkCallback,
  checkDuration,
  checkFlag,
  checkHeaders,
  checkId,
  checkInteger,
  given,
} from "../options/arguments.js";
import type { AbortSignalLike, CallOptions } from "../options/callOptions.js";
import type { LateSettings } from "./lateSettings.js";
import type { CallSettings } from "./types.js";

/**
 * Joins a call's options with its client's.
 * @param own Copied by `ownProperties`.
 * @param needsAccount Whether the operation's path names one: the call's own, else the client's.
 * @throws StatusError when an option cannot be used, or the client misses what the call needs.
 */
export function callSettings(late: LateSettings, own: CallOptions, needsAccount = false): CallSettings {
  const client = late.settle(needsAccount && own.accountId === undefined);
  const { maxRetries = client.maxRetries } = own;
  return {
    client,
    signal: checkSignal(own.signal),
    timeoutMs: given(checkDuration, own.timeoutMs ?? client.timeoutMs, "timeoutMs"),
    attemptTimeoutMs: given(
      checkDuration,
      own.attemptTimeoutMs ?? client.attemptTimeoutMs,
      "attemptTimeoutMs",
    ),
    maxRetries: checkInteger(maxRetries, "maxRetries", 0),
    repeatable: given(checkFlag, own.repeatable, "repeatable"),
    headers: own.headers === undefined ? client.headers : { ...client.headers, ...checkHeaders(own.headers) },
    onAttempt: checkCallback(own.onAttempt, "onAttempt") ?? client.onAttempt,
    accountId: own.accountId ?? client.accountId,
  };
}

/** The account of a call that needs one. @throws StatusError when it cannot stand in a path. */
export function accountOf({ accountId }: CallSettings): string {
  return checkId(accountId, "accountId");
}

function checkSignal(signal: unknown): AbortSignalLike | undefined {
  if (signal === undefined || signal === null) return undefined;
  const { aborted, addEventListener, removeEventListener } = signal as Partial<AbortSignalLike>;
  const usable =
    typeof aborted === "boolean" &&
    typeof addEventListener === "function" &&
    typeof removeEventListener === "function";
  if (!usable) throw invalid("signal must be an AbortSignal.");
  return signal as AbortSignalLike;
}
