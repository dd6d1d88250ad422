import type { AbortSignalLike } from "../options/callOptions.js";

/** What ends when a signal is aborted. */
export interface Endable {
  end(reason: "aborted"): void;
}

// One listener for all that a signal ends: Node warns of a leak when an eleventh is added.
const listening = new WeakMap<AbortSignalLike, { calls: Set<Endable>; onAbort: () => void }>();

/** Ends a call when the signal is aborted, until {@link unlisten}. */
export function listen(signal: AbortSignalLike, call: Endable): void {
  const entry = listening.get(signal);
  if (entry) {
    entry.calls.add(call);
    return;
  }
  const calls = new Set([call]);
  const onAbort = () => {
    for (const each of calls) each.end("aborted");
  };
  listening.set(signal, { calls, onAbort });
  signal.addEventListener("abort", onAbort);
}

/** The call listens no longer. */
export function unlisten(signal: AbortSignalLike, call: Endable): void {
  const entry = listening.get(signal);
  entry?.calls.delete(call);
  if (entry?.calls.size !== 0) return;
  signal.removeEventListener("abort", entry.onAbort);
  listening.delete(signal);
}
