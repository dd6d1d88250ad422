/// <reference lib="esnext.disposable" preserve="true" />
import { createTransport, isBrowser, runtime } from "#platform";
import { budget, defaultConnectTimeoutMs, defaultMaxRetries } from "./call/decisions.js";
import type { ClientSettings } from "./call/settings.js";
import { invalid } from "./errors/statusError.js";
import { version } from "./generated/version.js";
import {
  checkApiKey,
  checkBaseUrl,
  checkCallback,
  checkDuration,
  checkHeaders,
  checkId,
  checkInteger,
  checkOptionalDuration,
  isHeaderText,
  ownProperties,
} from "./options/arguments.js";
import type { ApiKey, ClientOptions } from "./options/options.js";
import { createFetchTransport } from "./transport/fetch.js";
import type { Transport } from "./transport/transport.js";
import { createDatasets, type Datasets } from "./wrappers/datasets.js";
import { createDeployments, type Deployments } from "./wrappers/deployments.js";
import {
  createReinforcementFineTuningJobs,
  type ReinforcementFineTuningJobs,
} from "./wrappers/reinforcementFineTuningJobs.js";
import { createRerank, type Rerank } from "./wrappers/rerank.js";

/** The four operations of the service. Made by {@link createClient}. */
export interface Client {
  /** Ranks documents against a query. */
  readonly rerank: Rerank;
  /** Resumes reinforcement fine-tuning jobs. */
  readonly reinforcementFineTuningJobs: ReinforcementFineTuningJobs;
  /** Scales deployments, to zero included. */
  readonly deployments: Deployments;
  /** Uploads dataset files. */
  readonly datasets: Datasets;
  /**
   * A client with some options changed; it shares this one's connections.
   * @example const patient = client.withOptions({ timeoutMs: 300_000 });
   */
  withOptions(options: SharedOptions): Client;
  /**
   * Ends idle connections; busy ones end with their calls. A client that is not closed keeps no process alive, so
   * this is for programs that want their sockets closed at once.
   */
  close(): Promise<void>;
  /** The same as {@link Client.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

const connectionOptions = ["agent", "fetch", "maxConnections"] as const;

/** The options of the connections, fixed when a client is created. */
export type ConnectionOption = (typeof connectionOptions)[number];

/** The options {@link Client.withOptions} can change: all but those of the connections themselves. */
export type SharedOptions = Omit<ClientOptions, ConnectionOption>;

/**
 * Creates a client. Options come first, then the environment variables TUNERANK_BASE_URL, TUNERANK_API_KEY and
 * TUNERANK_ACCOUNT_ID. Nothing is sent until a call is made.
 *
 * @throws StatusError `INVALID_ARGUMENT` when an option is missing or cannot be used.
 * @example
 * const client = createClient({ baseUrl: "https://api.example.com", apiKey: () => readKey() });
 */
export function createClient(options: ClientOptions = {}): Client {
  const own = ownProperties(options, "options");
  return build(own, { transport: transportOf(own), budget: { left: budget.full } });
}

// What clients made with `withOptions` have in common.
type Shared = Pick<ClientSettings, "transport" | "budget">;

function build(options: ClientOptions, shared: Shared): Client {
  if (isBrowser() && options.dangerouslyAllowBrowser !== true) {
    throw invalid("In a browser every visitor can read the API key.", {
      hint: "Call the service from your own server, or pass dangerouslyAllowBrowser: true for a page only you can open.",
    });
  }
  const settings = clientSettings(options, shared);
  const close = async (): Promise<void> => shared.transport.close();
  return {
    rerank: createRerank(settings),
    reinforcementFineTuningJobs: createReinforcementFineTuningJobs(settings),
    deployments: createDeployments(settings),
    datasets: createDatasets(settings),
    withOptions: (changes) => build(merge(options, changes), shared),
    close,
    // Older browsers have no Symbol.asyncDispose, and no syntax that would call it.
    [Symbol.asyncDispose ?? "asyncDispose"]: close,
    // What console.log shows: never the key.
    [Symbol.for("nodejs.util.inspect.custom")]: () => shownAs(settings),
  };
}

function shownAs({ baseUrl, accountId }: ClientSettings): string {
  const account = accountId === undefined ? "" : `, accountId: ${JSON.stringify(accountId)}`;
  return `Client { baseUrl: ${JSON.stringify(baseUrl)}${account} }`;
}

function transportOf({ fetch, maxConnections = 128, agent }: ClientOptions): Transport {
  checkCallback(fetch, "fetch");
  checkInteger(maxConnections, "maxConnections", 1);
  if (agent !== undefined && (typeof agent !== "object" || agent === null)) {
    throw invalid("agent must be an agent of node:http or node:https.");
  }
  if (fetch === undefined) return createTransport({ maxConnections, agent });
  if (agent === undefined) return createFetchTransport(fetch);
  throw invalid("agent has no effect on fetch: pass one of the two.");
}

// No `...rest` here: rest objects inherit from Object.prototype.
function clientSettings(options: ClientOptions, { transport, budget }: Shared): ClientSettings {
  const { accountId = environment("TUNERANK_ACCOUNT_ID") } = options;
  const { connectTimeoutMs = defaultConnectTimeoutMs, maxRetries = defaultMaxRetries } = options;
  const baseUrl = required(options.baseUrl, "baseUrl", "TUNERANK_BASE_URL");
  return {
    baseUrl: checkBaseUrl(baseUrl, "baseUrl", options.allowInsecureHttp === true),
    apiKey: checkKeySource(required(options.apiKey, "apiKey", "TUNERANK_API_KEY")),
    userAgent: userAgentOf(options.userAgent),
    connectTimeoutMs: checkDuration(connectTimeoutMs, "connectTimeoutMs"),
    transport,
    budget,
    accountId: accountId === undefined ? undefined : checkId(accountId, "accountId"),
    rerankModel: checkText(options.rerankModel, "rerankModel"),
    timeoutMs: checkOptionalDuration(options.timeoutMs, "timeoutMs"),
    attemptTimeoutMs: checkOptionalDuration(options.attemptTimeoutMs, "attemptTimeoutMs"),
    maxRetries: checkInteger(maxRetries, "maxRetries", 0),
    headers: checkHeaders(options.headers),
    onAttempt: checkCallback(options.onAttempt, "onAttempt"),
  };
}

function merge(options: ClientOptions, changes: SharedOptions): ClientOptions {
  const merged = ownProperties(options, "options");
  for (const [name, value] of Object.entries(ownProperties(changes, "options"))) {
    if ((connectionOptions as readonly string[]).includes(name)) {
      throw invalid(`withOptions cannot change ${name}: the connections are shared.`);
    }
    if (value !== undefined) Object.assign(merged, { [name]: value });
  }
  return merged;
}

function required<T>(value: T | undefined, option: string, variable: string): T | string {
  const found = value ?? environment(variable);
  if (found !== undefined) return found;
  throw invalid(`There is no ${option}.`, {
    hint: `Pass ${option} to createClient, or set the environment variable ${variable}.`,
  });
}

// Workers and browsers have no process; an empty variable counts as unset.
function environment(variable: string): string | undefined {
  const env = globalThis.process?.env ?? {};
  return (Object.hasOwn(env, variable) && env[variable]) || undefined;
}

function checkKeySource(apiKey: unknown): ApiKey {
  return typeof apiKey === "function" ? (apiKey as ApiKey) : checkApiKey(apiKey, "apiKey");
}

function userAgentOf(addition: unknown): string {
  const text = checkText(addition, "userAgent");
  const own = `tunerank/${version} ${runtime}`;
  return text ? `${own} ${text}` : own;
}

function checkText(value: unknown, what: string): string | undefined {
  if (value === undefined || (typeof value === "string" && isHeaderText(value))) return value;
  throw invalid(`${what} must be printable ASCII text.`);
}
