import type { Unusable } from "../call/answer.js";
import { makeCall } from "../call/call.js";
import { type Outcome, startCall } from "../call/callPromise.js";
import { type ClientSettings, callSettings } from "../call/settings.js";
import { requests } from "../generated/contract.js";
import type { RerankRequest, RerankResponse } from "../generated/types.js";
import type { CallOptions, CallPromise } from "../options/options.js";
import { validate } from "../options/validate.js";
import { createRerankItems, type RerankItems } from "./rerankItems.js";

const { body: rules } = requests.rerankDocuments;

/** Ranks documents by their relevance to a query. The contract's `rerankDocuments`. */
export interface Rerank {
  /**
   * Ranks documents by their relevance to a query, most relevant first. Needs no account.
   * Repeating it is safe. The contract's `rerankDocuments`.
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

/** @internal Makes {@link Rerank} with a client's settings. */
export function createRerank(client: ClientSettings): Rerank {
  // An async function: what its checks throw is a rejection.
  async function send<T>(
    body: RerankRequest,
    options: CallOptions | undefined,
    read: (answer: object) => T | Unusable,
  ): Promise<Outcome<T>> {
    const settings = callSettings(client, options);
    validate(body, rules, "body");
    const whole = withModel(body, client.rerankModel);
    const call = { operation: "rerankDocuments", body: whole, read } as const;
    return makeCall(client, call, settings);
  }
  function rerank(body: RerankRequest, options?: CallOptions): CallPromise<RerankResponse> {
    return startCall("rerankDocuments", () => send(body, options, (answer) => answer as RerankResponse));
  }
  const items = createRerankItems({ client, send });
  return Object.assign(rerank, { items });
}

function withModel(body: RerankRequest, rerankModel: string | undefined): RerankRequest {
  const model = Object.hasOwn(body, "model") ? body.model : undefined;
  return model === undefined && rerankModel !== undefined ? { ...body, model: rerankModel } : body;
}
