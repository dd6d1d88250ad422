import type { AbortSignalLike } from "../options/callOptions.js";

/** What ends when a signal is aborted. */
export interface Endable {
  end(reason: "aborted"): void;
}

// One listener for all that a signal ends: Node warns of a leak when an eleventh is added.
const listening = new WeakMap<AbortSignalLike, { ends: Set<Endable>; onAbort: () => void }>();

/** Ends it when the signal is aborted, at once if it is already, until {@link unlisten}. */
export function listen(signal: AbortSignalLike | undefined, endable: Endable): void {
  if (signal === undefined) return;
  if (signal.aborted) {
    endable.end("aborted");
    return;
  }
  const entry = listening.get(signal);
  if (entry) {
    entry.ends.add(endable);
    return;
  }
  const ends = new Set([endable]);
  const onAbort = () => {
    for (const each of ends) each.end("aborted");
  };
  listening.set(signal, { ends, onAbort });
  signal.addEventListener("abort", onAbort);
}

/** No longer. */
export function unlisten(signal: AbortSignalLike | undefined, endable: Endable): void {
  const entry = signal && listening.get(signal);
  if (signal === undefined || entry === undefined) return;
  entry.ends.delete(endable);
  if (entry.ends.size > 0) return;
  signal.removeEventListener("abort", entry.onAbort);
  listening.delete(signal);
}
