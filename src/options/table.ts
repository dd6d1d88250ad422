import { invalid } from "../errors/statusError.js";
import {
  checkCallback,
  checkCount,
  checkDuration,
  checkFlag,
  checkHeaders,
  checkInteger,
  checkRetries,
  checkText,
} from "./arguments.js";
import type { AbortSignalLike, CallOptions, ClientOptions, LogLevel } from "./types.js";
import type { OptionTable } from "./validate.js";

const ofBoth = {
  timeoutMs: checkDuration,
  attemptTimeoutMs: checkDuration,
  maxRetries: checkRetries,
  headers: checkHeaders,
  onAttempt: checkCallback,
  accountId: 1,
} as const;

export const callOptionTable: OptionTable<CallOptions> = {
  ...ofBoth,
  signal: checkSignal,
  idempotent: checkFlag,
};

export const clientOptionTable: OptionTable<ClientOptions> = {
  baseUrl: 1,
  apiKey: 1,
  rerankModel: 1,
  ...ofBoth,
  connectTimeoutMs: checkDuration,
  maxConnections: checkCount,
  keepAliveMs: checkInteger,
  agent: 1,
  dispatcher: 1,
  proxy: 1,
  logger: 1,
  logLevel: 1,
  logBodies: checkFlag,
  userAgent: checkText,
  fetch: checkCallback,
  allowInsecureHttp: 1,
  dangerouslyAllowBrowser: 1,
};

/** The log levels in order: each logs the lines of the levels before it, too. */
export const logLevels: readonly LogLevel[] = ["off", "error", "warn", "info", "debug"];

/** Checks the signal that ends a call: an AbortSignal of any realm, or an object that behaves like one. */
export function checkSignal(signal: unknown): AbortSignalLike | undefined {
  if (signal === null) return undefined;
  const { aborted, addEventListener, removeEventListener } = signal as Partial<AbortSignalLike>;
  const areMethods = [addEventListener, removeEventListener].every((each) => typeof each === "function");
  if (typeof aborted === "boolean" && areMethods) return signal as AbortSignalLike;
  throw invalid("signal", "signal must be an AbortSignal.");
}
