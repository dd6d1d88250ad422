import { invalid } from "../errors/statusError.js";
import {
  checkCallback,
  checkFlag,
  checkHeaders,
  checkId,
  checkInteger,
  checkOptionalDuration,
  ownProperties,
} from "../options/arguments.js";
import type { AbortSignalLike, ApiKey, CallOptions } from "../options/options.js";
import type { Transport } from "../transport/transport.js";

/** What a client may still spend on retries, in tenths of one. */
export interface RetryBudget {
  left: number;
}

/** What a client was made with: its connection to the service, and what its calls do by default. */
export interface ClientSettings {
  readonly baseUrl: string;
  readonly apiKey: ApiKey;
  readonly userAgent: string;
  readonly connectTimeoutMs: number;
  /** Shared with the clients made of this one, as the budget is. */
  readonly transport: Transport;
  readonly budget: RetryBudget;
  readonly accountId: string | undefined;
  readonly rerankModel: string | undefined;
  readonly timeoutMs: number | undefined;
  readonly attemptTimeoutMs: number | undefined;
  readonly maxRetries: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly onAttempt: CallOptions["onAttempt"];
}

/** The options of one call, checked and joined with its client's. */
export interface CallSettings {
  readonly signal: AbortSignalLike | undefined;
  /** Undefined for the operation's own deadline. */
  readonly timeoutMs: number | undefined;
  readonly attemptTimeoutMs: number | undefined;
  readonly maxRetries: number;
  readonly repeatable: boolean | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly onAttempt: CallOptions["onAttempt"];
  readonly accountId: string | undefined;
}

/** Joins a call's options with its client's. @throws StatusError when one cannot be used. */
export function callSettings(client: ClientSettings, options: CallOptions | undefined): CallSettings {
  const own = ownProperties(options, "options");
  const { maxRetries = client.maxRetries } = own;
  return {
    signal: checkSignal(own.signal),
    timeoutMs: checkOptionalDuration(own.timeoutMs ?? client.timeoutMs, "timeoutMs"),
    attemptTimeoutMs: checkOptionalDuration(
      own.attemptTimeoutMs ?? client.attemptTimeoutMs,
      "attemptTimeoutMs",
    ),
    maxRetries: checkInteger(maxRetries, "maxRetries", 0),
    repeatable: own.repeatable === undefined ? undefined : checkFlag(own.repeatable, "repeatable"),
    headers: own.headers === undefined ? client.headers : { ...client.headers, ...checkHeaders(own.headers) },
    onAttempt: checkCallback(own.onAttempt, "onAttempt") ?? client.onAttempt,
    accountId: own.accountId ?? client.accountId,
  };
}

/** The account a call is for. @throws StatusError when neither the call nor its client names one. */
export function accountOf({ accountId }: CallSettings): string {
  if (accountId !== undefined) return checkId(accountId, "accountId");
  throw invalid("This operation needs an account.", {
    hint: "Pass accountId to createClient or to the call, or set TUNERANK_ACCOUNT_ID.",
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
