import { permissionFor, readVariable, unseenIn, warn } from "#platform";
import type { OperationName } from "../errors/codes.js";
import { invalid, type StatusError } from "../errors/statusError.js";
import { operations } from "../generated/contract.js";
import { checkApiKey, checkBaseUrl, checkId, checkText } from "../options/arguments.js";
import { logLevels } from "../options/table.js";
import type { CallOptions, ClientOptions, LogLevel } from "../options/types.js";
import type { Check } from "../options/validate.js";
import { defaultMaxRetries } from "../policy/decisions.js";
import { attemptPolicy } from "../policy/retry.js";
import type { Lane } from "../policy/run.js";
import { notify, WithoutPrototype } from "../values.js";
import type { CallSettings, ClientSettings, Log } from "./types.js";

/**
 * Joins a call's options with its client's. @param own The call's options, copied and checked
 * @throws StatusError when the client lacks a setting that the call needs, such as an account id
 */
export function callSettings(client: ClientConfig, own: CallOptions, operation: OperationName): CallSettings {
  const needsAccount = operation !== "request" && operations[operation].path.includes("{account_id}");
  client.settle(needsAccount && own.accountId === undefined);
  const policy = (own as { readonly [attemptPolicy]?: Lane })[attemptPolicy];
  return {
    client,
    signal: own.signal,
    timeoutMs: own.timeoutMs ?? client.timeoutMs,
    attemptTimeoutMs: own.attemptTimeoutMs ?? client.attemptTimeoutMs,
    maxRetries: own.maxRetries ?? client.maxRetries ?? defaultMaxRetries,
    idempotent: own.idempotent,
    headers:
      own.headers === undefined
        ? client.headers
        : { ...client.headers, ...(own.headers as ClientConfig["headers"]) },
    onAttempt: own.onAttempt ?? client.onAttempt,
    accountId: own.accountId ?? client.accountId,
    // The call joins its run (bulk, rerank.items) last, after all checks: an invalid call does not count in the run.
    policy: policy?.admitted(client.transport),
  };
}

/** The environment variable of each setting. */
export const variables = {
  baseUrl: "TUNERANK_BASE_URL",
  apiKey: "TUNERANK_API_KEY",
  accountId: "TUNERANK_ACCOUNT_ID",
  rerankModel: "TUNERANK_RERANK_MODEL",
  log: "TUNERANK_LOG",
} as const;

/** A client's settings. The environment is read at the first call, so that a build can create clients without it. */
export class ClientConfig extends WithoutPrototype<ClientSettings> {
  #isComplete = false;

  constructor(given: Omit<ClientSettings, "baseUrl" | "apiKey"> & Pick<ClientOptions, "baseUrl" | "apiKey">) {
    super();
    Object.assign(this, given);
  }

  /** The secrets that no message may show: the API key, if it is known, and a proxy's credentials. */
  get secrets(): readonly string[] {
    const { apiKey = readVariable(variables.apiKey, false), transport } = this;
    return [typeof apiKey === "string" ? apiKey : "", ...(transport.secrets ?? [])];
  }

  /**
   * Completes the settings for a call. The environment is not read again once nothing is missing.
   * @throws StatusError that names every missing setting, or an environment variable with an invalid value.
   */
  settle(needsAccount: boolean): void {
    if (this.#isComplete && !(needsAccount && this.accountId === undefined)) return;
    const {
      baseUrl = readOption("baseUrl", (value, name) =>
        checkAddress(value, name, this.allowInsecureHttp === true),
      ),
      apiKey = readOption("apiKey", checkKey),
      accountId = readOption("accountId", checkAccountId, needsAccount),
      rerankModel = readOption("rerankModel", checkModel, false),
    } = this;
    if (baseUrl === undefined || apiKey === undefined || (needsAccount && accountId === undefined)) {
      throw missing({ baseUrl, apiKey, accountId: needsAccount ? accountId : "" });
    }
    const log = this.log ?? readOption("log", (text, name) => logNamed(text, name, this.logBodies), false);
    Object.assign(this, { baseUrl, apiKey, accountId, rerankModel, log });
    this.#isComplete = true;
  }
}

/** Checks an option that need not be given, and names an invisible character that an editor or a file left in it. */
function seen<T>(check: Check<T>, hasBlanks?: boolean): Check<T | undefined> {
  return (value, what) => {
    if (value === undefined) return undefined;
    // Asked twice, without a variable, so that a page's bundle leaves the whole line out.
    if (unseenIn(value, hasBlanks)) throw invalid(what, `${what} ${unseenIn(value, hasBlanks)}`);
    return check(value, what);
  };
}

// The checks of the options that the environment may supply.
export function checkAddress(value: unknown, what: string, allowInsecureHttp: boolean): string | undefined {
  return seen(() => checkBaseUrl(value, what, allowInsecureHttp))(value, what);
}

export const checkAccountId: Check<string | undefined> = seen(checkId, true);

export const checkModel: Check<string | undefined> = seen(checkText, true);

export const checkKey: Check<string | undefined> = seen(checkApiKey);

// An empty variable counts as unset.
function readOption<T>(
  option: keyof typeof variables,
  check: (value: string, name: string) => T,
  isNeeded = true,
): T | undefined {
  const variable = variables[option];
  const value = readVariable(variable, isNeeded);
  return value ? check(value, variable) : undefined;
}

function missing(found: Readonly<Record<"baseUrl" | "apiKey" | "accountId", unknown>>): Error {
  const options = (Object.keys(found) as (keyof typeof found)[]).filter((name) => found[name] === undefined);
  const named = options.map((option) => variables[option]);
  const listed = (names: readonly string[]) => names.join(", ").replace(/, (\w+)$/, " and $1");
  const [are, them] = options.length === 1 ? ["is", "it"] : ["are", "them"];
  const where = options[0] === "accountId" ? "createClient or to the call" : "createClient";
  return invalid(options[0], `${listed(options)} ${are} missing.`, {
    hint: `Set ${listed(named)}, or pass ${them} to ${where}.${permissionFor(named) ?? ""}`,
  });
}

const methods = logLevels.slice(1) as Exclude<LogLevel, "off">[];

let hasWarned = false;

// An invalid TUNERANK_LOG only warns: whoever sets it wants to see calls, not to make them fail.
function logNamed(text: string, variable: string, logBodies: ClientOptions["logBodies"]): Log | false {
  try {
    return logOf({ logBodies }, text.trim().toLowerCase() || "off", variable);
  } catch (error) {
    if (!hasWarned) notify(warn, (error as StatusError).text);
    hasWarned = true;
    return false;
  }
}

/** The function that writes log lines; false if logging is off. @param name What sets the level @throws StatusError */
export function logOf(
  { logger, logBodies }: Pick<ClientOptions, "logger" | "logBodies">,
  level: unknown,
  name: string,
): Log | false {
  if (!logLevels.includes(level as LogLevel))
    throw invalid(name, `${name} must be one of ${logLevels.join(", ")}.`);
  if (
    logger !== undefined &&
    typeof logger !== "function" &&
    methods.some((method) => typeof logger?.[method] !== "function")
  ) {
    throw invalid("logger", `logger must have the methods ${methods.join(", ")}, or be a function.`);
  }
  if (level === "off") return false;
  const options = { logger, logLevel: level as LogLevel, logBodies };
  // Starts to load now, so that the module is ready when the first attempt ends.
  const loaded = import("./log.js");
  // If a line cannot be written, or the logger fails, the call goes on.
  return (event, exchange) =>
    void loaded.then(({ writeLine }) => writeLine(options, event, exchange)).catch(() => {});
}
