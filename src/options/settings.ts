import { invalid } from "../errors/statusError.js";
import {
  checkCallback,
  checkFlag,
  checkHeaders,
  checkId,
  checkInteger,
  checkOptionalDuration,
  ownProperties,
} from "./arguments.js";
import type { AbortSignalLike, CallOptions } from "./options.js";

/** What a client sets for all of its calls. */
export interface Defaults {
  readonly accountId: string | undefined;
  readonly timeoutMs: number | undefined;
  readonly attemptTimeoutMs: number | undefined;
  readonly maxRetries: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly onAttempt: CallOptions["onAttempt"];
}

/** The options of one call, checked and joined with its client's. */
export interface CallSettings {
  readonly signal: AbortSignalLike | undefined;
  readonly timeoutMs: number;
  readonly attemptTimeoutMs: number | undefined;
  readonly maxRetries: number;
  readonly repeatable: boolean | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly onAttempt: CallOptions["onAttempt"];
  /** @throws StatusError when neither the call nor the client names an account. */
  readonly account: () => string;
}

/** Joins a call's options with its client's. @param timeoutMs The operation's own deadline. */
export function callSettings(
  defaults: Defaults,
  options: CallOptions | undefined,
  timeoutMs: number,
): CallSettings {
  const own = ownProperties(options, "options");
  const { maxRetries = defaults.maxRetries } = own;
  return {
    signal: checkSignal(own.signal),
    timeoutMs: checkOptionalDuration(own.timeoutMs ?? defaults.timeoutMs, "timeoutMs") ?? timeoutMs,
    attemptTimeoutMs: checkOptionalDuration(
      own.attemptTimeoutMs ?? defaults.attemptTimeoutMs,
      "attemptTimeoutMs",
    ),
    repeatable: own.repeatable === undefined ? undefined : checkFlag(own.repeatable, "repeatable"),
    onAttempt: checkCallback(own.onAttempt, "onAttempt") ?? defaults.onAttempt,
    maxRetries: checkInteger(maxRetries, "maxRetries", 0),
    headers:
      own.headers === undefined ? defaults.headers : { ...defaults.headers, ...checkHeaders(own.headers) },
    account: () => checkAccountId(own.accountId ?? defaults.accountId),
  };
}

function checkAccountId(accountId: string | undefined): string {
  if (accountId !== undefined) return checkId(accountId, "accountId");
  throw invalid("No account: pass accountId, or set TUNERANK_ACCOUNT_ID.", {
    hint: "This operation needs an account: pass accountId to createClient or to the call, or set TUNERANK_ACCOUNT_ID.",
  });
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
