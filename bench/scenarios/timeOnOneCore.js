import { measureCalls } from "../callSamples.js";

export const title = "Time per small rerank call, 64 at once: one process, its core busy";
export const unit = "µs";

export function measure(options) {
  return measureCalls("time", { concurrency: 64 }, options);
}
