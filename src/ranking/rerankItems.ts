import { loaded, start } from "../call/callPromise.js";
import { ownProperties } from "../options/arguments.js";

import type { RerankCall, RerankItems } from "./types.js";

/** @internal Makes {@link RerankItems} over a rerank call. */
export function createRerankItems(rerank: RerankCall): RerankItems {
  return function items(query, given, options) {
    return start(
      "rerankDocuments",
      rerank.client,
      async () => {
        const own = ownProperties(options, "options");
        // Copied: the caller's may change while the rest is loaded, and while calls run.
        const list = Array.isArray(given) ? [...given] : given;
        const { rankItems } = await loaded(import("./rankItems.js"));
        return rankItems(rerank, query, list, own);
      },
      (response) => response,
    );
  };
}
