import type { Limiter } from "../policy/limiter.js";
import { LimitSearch } from "../policy/limitSearch.js";
import { MachineLimiter } from "../policy/openFiles.js";
import { sharedTransport } from "../policy/types.js";
import type { RunSettings } from "./settings.js";

// By what clients have in common; of runs that would find the same, and wait as long.
const shared = new WeakMap<object, Map<string, Limiter>>();

/** The limiter of a run: that of the runs beside it, of the same client, where it is to find its limit. */
export function limiterOf<Id>(client: object, settings: RunSettings<Id>): Limiter {
  const limiter = found(client, settings);
  limiter.isOneOfMany ||= settings.isOneOfMany;
  return limiter;
}

function found<Id>(client: object, { concurrency, maxHoldMs }: RunSettings<Id>): Limiter {
  if (typeof concurrency === "number") return new MachineLimiter(concurrency);
  const { [sharedTransport]: transport = client } = client as { readonly [sharedTransport]?: object };
  const limiters = shared.get(transport) ?? new Map<string, Limiter>();
  const name = `${concurrency.max}/${maxHoldMs}`;
  const running = limiters.get(name);
  if (running && !running.isSpent) return running;
  const limiter = new MachineLimiter(new LimitSearch(concurrency.max));
  shared.set(transport, limiters.set(name, limiter));
  return limiter;
}
