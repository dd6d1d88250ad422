import { makeCall } from "../call/call.js";
import { readObject, readRerank } from "../call/response.js";
import type { ClientConfig } from "../call/settings.js";
import { invalid } from "../errors/statusError.js";
import { requests } from "../generated/contract.js";
import type { RerankRequest, RerankResponse } from "../generated/types.js";
import { checkDuration } from "../options/arguments.js";
import { callOptionTable, checkSignal } from "../options/table.js";
import type { CallOptions, CallPromise } from "../options/types.js";
import { checkSpelling, ownProperties, validate } from "../options/validate.js";
import type { Limiters } from "../policy/limiter.js";
import type { RerankCall } from "../ranking/rank.js";
import type { RerankItems } from "../ranking/types.js";
import { Deadline } from "../transport/time.js";
import { memberOf, ownValue } from "../values.js";
import { loaded, prepare, startCall } from "./invoke.js";

// Checked: the body, by the contract's rules, and that no field is another spelling of a known one. Sent: the body as JSON
// by the contract's row `rerankDocuments`, with the client's `rerankModel` if it names no model. Read: the JSON object of
// the response, whose `data` must be a list of entries with an `index` and a `relevance_score`.
const { body: rules } = requests.rerankDocuments;
const readResponse = readObject(readRerank);

/** Ranks documents by their relevance to a query. The contract's `rerankDocuments`. */
export interface Rerank {
  /**
   * Ranks documents by their relevance to a query, most relevant first. Needs no account.
   * The call is idempotent. The contract's `rerankDocuments`.
   *
   * The response is returned unchecked: an `index` may be missing, repeated or outside `documents`, and the order may be
   * wrong. `checkRanking` of `tunerank/bulk` and {@link Rerank.items} check it.
   *
   * @param body The query and the documents, with the fields of the contract's `RerankRequest`; others pass through.
   * @param options Options of this call, such as `timeoutMs` or `signal`.
   * @throws StatusError `INVALID_ARGUMENT` or `OUT_OF_RANGE` before anything is sent; any code of the service;
   * `INTERNAL` with `executed: "yes"` if `data` of the response is no list, or an entry lacks `index` or
   * `relevance_score`.
   * @example
   * const { data } = await client.rerank({ query: "capital of France", documents: ["Paris.", "Rome."], top_n: 1 });
   * data[0]?.index; // the position in `documents`
   */
  (body: RerankRequest, options?: CallOptions): CallPromise<RerankResponse>;
  /**
   * Ranks your own items by a text of each, in one request or in batches.
   *
   * @example
   * const best = await client.rerank.items("capital of France", cities, { text: (city) => city.summary, topN: 3 });
   */
  readonly items: RerankItems;
}

/** @internal Makes {@link Rerank} with a client's settings. */
export function createRerank(client: ClientConfig, limiters: Limiters): Rerank {
  const send: RerankCall["send"] = (body, options, read) =>
    makeCall(client, "rerankDocuments", { options, table: callOptionTable }, (settings) => {
      if (typeof memberOf(memberOf(body, "documents"), "0") === "object")
        throw invalid("documents[0]", "documents[0] must be a string.", {
          hint: "Rank objects with rerank.items.",
        });
      validate(body, rules, "body");
      checkSpelling(body, rules.properties, "body");
      const { rerankModel } = settings.client;
      const isWhole = rerankModel === undefined || ownValue(body, "model") !== undefined;
      const whole = isWhole ? body : { ...body, model: rerankModel };
      return prepare(settings, "rerankDocuments", { ids: undefined, body: whole, read });
    });
  const rerank = (body: RerankRequest, options?: CallOptions): CallPromise<RerankResponse> =>
    startCall("rerankDocuments", client, () => send(body, options, readResponse));
  const items: RerankItems = (query, given, options) =>
    startCall(
      "rerankDocuments",
      client,
      async () => {
        const deadline = new Deadline(client.calls);
        try {
          const own = ownProperties(options, "options");
          const { signal = null, timeoutMs } = own;
          const ms =
            timeoutMs === undefined ? Number.POSITIVE_INFINITY : checkDuration(timeoutMs, "timeoutMs");
          deadline.limit({ timeoutMs: ms, attemptTimeoutMs: ms }, checkSignal(signal));
          // Copied, because the caller may change the list while the module is loaded and while calls run.
          const list = Array.isArray(given) ? [...given] : given;
          // Few programs use `rerank.items`: its module is loaded with the first call.
          const { rankItems } = await deadline.untilEnded(loaded(import("../ranking/rank.js")));
          return await rankItems({ client, limiters, send, loaded, deadline }, query, list, own);
        } finally {
          deadline.dispose();
        }
      },
      (response) => response,
    );
  return Object.assign(rerank, { items });
}
