/// <reference lib="esnext.disposable" preserve="true" />

import { createTransport, inspectedAs, isBrowser, runtime } from "#platform";
import { ClientConfig, checkAccountId, checkAddress, checkKey, checkModel, logOf } from "./call/settings.js";
import type { ClientSettings } from "./call/types.js";
import { invalid } from "./errors/statusError.js";
import { version } from "./generated/version.js";
import { clientOptionTable } from "./options/table.js";
import type { ClientOptions } from "./options/types.js";
import { ownProperties } from "./options/validate.js";
import { budget, defaultConnectMs } from "./policy/decisions.js";
import type { Limiters } from "./policy/limiter.js";
import type { Transport } from "./transport/exchange.js";
import { addMethods } from "./wrappers/contractClient.js";
import type { ContractClient } from "./wrappers/contractMethods.js";
import { createDatasets, type Datasets } from "./wrappers/datasets.js";
import { createDeployments, type Deployments } from "./wrappers/deployments.js";
import { createCalls } from "./wrappers/operationMethods.js";
import {
  createReinforcementFineTuningJobs,
  type ReinforcementFineTuningJobs,
} from "./wrappers/reinforcementFineTuningJobs.js";
import { createRerank, type Rerank } from "./wrappers/rerank.js";
import { type ClientInside, inside, type ServiceCall } from "./wrappers/types.js";

/** A client of the service, with its operations. Created by {@link createClient}. */
export interface Client extends ContractClient {
  /** Ranks documents against a query. */
  readonly rerank: Rerank;
  /** Resumes reinforcement fine-tuning jobs. */
  readonly reinforcementFineTuningJobs: ReinforcementFineTuningJobs;
  /** Scales deployments, also to zero. */
  readonly deployments: Deployments;
  /** Uploads dataset files. */
  readonly datasets: Datasets;
  /** Calls any other operation of the service, by its method and path. */
  readonly request: ServiceCall;
  /**
   * Returns a client with some options changed. It shares this client's connections, not its calls, and need not be
   * closed.
   * @param options The options to change; one that is undefined stays.
   * @throws StatusError `INVALID_ARGUMENT` or `OUT_OF_RANGE` for a value that cannot be used or a {@link
   * ConnectionOption}.
   * @example const patient = client.withOptions({ timeoutMs: 300_000 });
   */
  withOptions(options: SharedOptions): Client;
  /**
   * Ends this client's calls, which reject with `CANCELLED`, and closes its connections, unless another client with the
   * same address and options still uses them. Calls of clients made with `withOptions` go on: their connections close
   * when these calls end, and idle connections close at once. An open client does not keep the process alive.
   */
  close(): Promise<void>;
  /** The same as {@link Client.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

const connectionOptions = ["dispatcher", "agent", "fetch", "proxy", "keepAliveMs", "maxConnections"] as const;

/** The names of the options that concern the connections. They are fixed when a client is created. */
export type ConnectionOption = (typeof connectionOptions)[number];

/** The options that {@link Client.withOptions} can change: all except the options of the connections. */
export type SharedOptions = Omit<ClientOptions, ConnectionOption>;

/**
 * Creates a client. Options take precedence over the environment variables TUNERANK_BASE_URL, TUNERANK_API_KEY,
 * TUNERANK_ACCOUNT_ID and TUNERANK_RERANK_MODEL. The variables are read at the first call, which rejects if a
 * required value is missing.
 *
 * @param options The address, API key and account of the service, and the defaults for every call.
 * @throws StatusError `INVALID_ARGUMENT` or `OUT_OF_RANGE` for an option that cannot be used.
 * @example
 * const client = createClient({ baseUrl: "https://api.example.com", apiKey: () => readKey() });
 */
export function createClient(options: ClientOptions = {}): Client {
  const own = ownProperties(options, "options", clientOptionTable);
  const transport = createTransport(own, ownedBy(own));
  return build(own, { transport, budget: { left: budget.full }, running: new Map() }, transport);
}

/** @param shared What a client shares with those made from it by `withOptions`. */
function build(
  options: ClientOptions,
  shared: Pick<ClientSettings, "transport" | "budget"> & Pick<Limiters, "running">,
  transport: Transport,
): Client {
  if (isBrowser() && options.dangerouslyAllowBrowser !== true) {
    const hint =
      'Call the service from your server, or pass dangerouslyAllowBrowser: true for a page that only you can open. Under Jest\'s jsdom set testEnvironment: "node".';
    throw invalid("dangerouslyAllowBrowser", "In a browser every visitor can read the API key.", { hint });
  }
  const { baseUrl, apiKey, accountId, rerankModel, userAgent = "", logger, logLevel } = options;
  const isLogged = logger !== undefined || logLevel !== undefined;
  // The settings have no prototype, so a polluted Object.prototype sets none. `ownProperties` checked most values.
  const settings = new ClientConfig({
    ...options,
    baseUrl: checkAddress(baseUrl, "baseUrl", options.allowInsecureHttp === true),
    apiKey: typeof apiKey === "function" ? apiKey : checkKey(apiKey, "apiKey"),
    accountId: checkAccountId(accountId, "accountId"),
    rerankModel: checkModel(rerankModel, "rerankModel"),
    userAgent: `tunerank/${version} ${runtime} ${userAgent}`.trimEnd(),
    connectTimeoutMs: options.connectTimeoutMs ?? defaultConnectMs,
    transport,
    budget: shared.budget,
    calls: [],
    headers: (options.headers ?? {}) as ClientSettings["headers"],
    log: isLogged ? logOf(options, logLevel ?? "info", "logLevel") : undefined,
  });
  const limiters: Limiters = { running: shared.running };
  const close = async (): Promise<void> => {
    // A copy of the list, because a call that ends removes itself from the list.
    for (const call of [...settings.calls]) call.end("closed");
    transport.close();
  };
  const { request, ...inner } = createCalls(settings);
  const client = {
    rerank: createRerank(settings, limiters),
    reinforcementFineTuningJobs: createReinforcementFineTuningJobs(settings),
    deployments: createDeployments(settings),
    datasets: createDatasets(settings),
    request,
    withOptions: (changes: SharedOptions) =>
      build(merge(options, changes), shared, shared.transport.derive?.() ?? transport),
    close,
    // Older browsers have no Symbol.asyncDispose, and no syntax that would call it.
    [Symbol.asyncDispose ?? "asyncDispose"]: close,
    [inside]: { limiters, ...inner } satisfies ClientInside,
    // console.log shows the address and the account, never the key.
    ...inspectedAs(() => {
      const { baseUrl, accountId } = settings;
      const account = accountId === undefined ? "" : `, accountId: ${JSON.stringify(accountId)}`;
      return `Client { baseUrl: ${JSON.stringify(baseUrl)}${account} }`;
    }),
  };
  return addMethods(client, settings);
}

// The options that the connections fix. `connectTimeoutMs` is one only with a dispatcher, which decides that time.
function ownedBy({ dispatcher }: ClientOptions): readonly (keyof ClientOptions)[] {
  return dispatcher === undefined ? connectionOptions : [...connectionOptions, "connectTimeoutMs"];
}

function merge(options: ClientOptions, changes: SharedOptions): ClientOptions {
  const merged = ownProperties(options, "options") as Record<string, unknown>;
  for (const [name, value] of Object.entries(ownProperties(changes, "options", clientOptionTable))) {
    if ((ownedBy(options) as readonly string[]).includes(name)) {
      throw invalid(name, `withOptions cannot change ${name}: the connections are shared.`);
    }
    if (value !== undefined) merged[name] = value;
  }
  return merged;
}
