// What is left on the heap, and how it grows.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

export interface HeapSample {
  readonly calls: number;
  readonly bytes: number;
}

export function sampleHeap(calls: number): HeapSample {
  collectGarbage();
  collectGarbage();
  return { calls, bytes: process.memoryUsage().heapUsed };
}

/** Bytes per call: the median slope of all pairs of samples; one that stands out does not bend it. */
export function slopeOf(samples: readonly HeapSample[]): number {
  const slopes = samples.flatMap((from, index) =>
    samples.slice(index + 1).map((to) => (to.bytes - from.bytes) / (to.calls - from.calls)),
  );
  const sorted = slopes.sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
