import { makeCall } from "../call/call.js";
import { type Outcome, startCall } from "../call/callPromise.js";
import type { Context } from "../call/context.js";
import { requests } from "../generated/contract.js";
import type { RerankRequest, RerankResponse } from "../generated/types.js";
import type { CallOptions, CallPromise } from "../options/options.js";
import { callSettings } from "../options/settings.js";
import { compile, validate } from "../options/validate.js";
import type { TransportResponse } from "../transport/transport.js";
import { createRerankItems, type RerankItems } from "./rerankItems.js";

const timeoutMs = 60_000;
const check = compile(requests.rerankDocuments.body);
// The answer can carry every document back.
const maxResponseBytes = 64 * 1024 * 1024;

/** Ranks documents by their relevance to a query. (Interface document: Endpoints, Rerank documents.) */
export interface Rerank {
  /**
   * Ranks documents by their relevance to a query, most relevant first. Needs no account.
   * Repeating it is safe. (Interface document: Endpoints, Rerank documents.)
   *
   * @throws StatusError `INVALID_ARGUMENT` or `OUT_OF_RANGE` before anything is sent; any code of the service.
   * @example
   * const { data } = await client.rerank({ query: "capital of France", documents: ["Paris.", "Rome."], top_n: 1 });
   * data[0]?.index; // the position in `documents`
   */
  (body: RerankRequest, options?: CallOptions): CallPromise<RerankResponse>;
  /** Ranks things of your own, in one request or in batches. */
  readonly items: RerankItems;
}

/** @internal Makes {@link Rerank} over a client's connection. */
export function createRerank(context: Context): Rerank {
  const { connection, defaults, rerankModel } = context;
  // An async function: what its checks throw is a rejection.
  const send = async <T>(
    body: RerankRequest,
    options: CallOptions | undefined,
    read: (answer: object, response: TransportResponse, key: string) => T,
  ): Promise<Outcome<T>> => {
    const settings = callSettings(defaults, options, timeoutMs);
    const input = { path: undefined, body: checked(body, rerankModel) };
    const call = { operation: "rerankDocuments", input, maxResponseBytes, read } as const;
    return makeCall<"rerankDocuments", T>(connection, call, settings);
  };
  const rerank = (body: RerankRequest, options?: CallOptions): CallPromise<RerankResponse> =>
    startCall("rerankDocuments", () => send(body, options, (answer) => answer as RerankResponse));
  return Object.assign(rerank, {
    items: createRerankItems(context, { timeoutMs, check: (body) => validate(body, check, "body"), send }),
  });
}

function checked(body: RerankRequest, rerankModel: string | undefined): RerankRequest {
  validate(body, check, "body");
  const model = Object.hasOwn(body, "model") ? body.model : undefined;
  return model === undefined && rerankModel !== undefined ? { ...body, model: rerankModel } : body;
}
