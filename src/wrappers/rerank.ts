import type { Unusable } from "../call/answer.js";
import { makeCall } from "../call/call.js";
import { type Outcome, startCall } from "../call/callPromise.js";
import { type ClientSettings, callSettings } from "../call/settings.js";
import { invalid } from "../errors/statusError.js";
import { limits } from "../generated/contract.js";
import type { RerankRequest, RerankResponse } from "../generated/types.js";
import { checkInteger, checkObject } from "../options/arguments.js";
import type { CallOptions, CallPromise } from "../options/options.js";
import { createRerankItems, type RerankItems } from "./rerankItems.js";

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

/** @internal Makes {@link Rerank} with a client's settings. */
export function createRerank(client: ClientSettings): Rerank {
  // An async function: what its checks throw is a rejection.
  async function send<T>(
    body: RerankRequest,
    options: CallOptions | undefined,
    read: (answer: object) => T | Unusable,
  ): Promise<Outcome<T>> {
    const settings = callSettings(client, options);
    const checked = checkBody(body, client.rerankModel);
    const call = { operation: "rerankDocuments", body: checked, read } as const;
    return makeCall(client, call, settings);
  }
  function rerank(body: RerankRequest, options?: CallOptions): CallPromise<RerankResponse> {
    return startCall("rerankDocuments", () => send(body, options, (answer) => answer as RerankResponse));
  }
  const items = createRerankItems(client, { check: (body) => checkBody(body, undefined), send });
  return Object.assign(rerank, { items });
}

function checkBody(body: RerankRequest, rerankModel: string | undefined): RerankRequest {
  checkObject(body, "body");
  expect(body, "query", "string", true);
  const model = expect(body, "model", "string", false);
  expect(body, "task", "string", false);
  expect(body, "return_documents", "boolean", false);
  checkDocuments(own(body, "documents"));
  const topN = own(body, "top_n");
  if (topN !== undefined) checkInteger(topN, "top_n", limits.rerankDocuments.top_n.minimum);
  return model === undefined && rerankModel !== undefined ? { ...body, model: rerankModel } : body;
}

function expect(body: RerankRequest, field: keyof RerankRequest, type: string, required: boolean): unknown {
  const value = own(body, field);
  if (value === undefined ? required : typeof value !== type) {
    throw invalid(`${field} must be a ${type}${required ? "" : " when given"}.`);
  }
  return value;
}

function own(body: RerankRequest, field: keyof RerankRequest): unknown {
  return Object.hasOwn(body, field) ? body[field] : undefined;
}

function checkDocuments(documents: unknown): void {
  const { minItems } = limits.rerankDocuments.documents;
  if (!Array.isArray(documents) || documents.length < minItems) {
    throw invalid(`documents must be a list of at least ${minItems} string.`);
  }
  for (let index = 0; index < documents.length; index++) {
    if (typeof documents[index] !== "string") {
      throw invalid(`documents[${index}] must be a string.`);
    }
  }
}
