import type { Limiter } from "../policy/limiter.js";
import { LimitSearch } from "../policy/limitSearch.js";
import { MachineLimiter } from "../policy/openFiles.js";
import { sharedTransport } from "../policy/types.js";
import type { RunSettings } from "./settings.js";

// By what clients have in common; of runs that would find the same, and wait as long.
const shared = new WeakMap<object, Map<string, Found>>();

/** The limiter of a run: that of the runs beside it, of the same client, where it is to find its limit. */
export function limiterOf<Id>(
  client: object,
  { concurrency, maxHoldMs, isOneOfMany }: RunSettings<Id>,
): Limiter {
  if (typeof concurrency === "number") return new MachineLimiter(concurrency);
  const { [sharedTransport]: transport = client } = client as { readonly [sharedTransport]?: object };
  const limiters = shared.get(transport) ?? new Map<string, Found>();
  const name = `${concurrency.max}/${maxHoldMs}`;
  let found = limiters.get(name);
  if (found === undefined || found.limiter.isSpent) {
    const search = new LimitSearch(concurrency.max);
    found = { search, limiter: new MachineLimiter(search) };
    shared.set(transport, limiters.set(name, found));
  }
  found.search.isOneOfMany ||= isOneOfMany;
  return found.limiter;
}

interface Found {
  readonly search: LimitSearch;
  readonly limiter: Limiter;
}
