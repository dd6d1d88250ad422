import { measureCalls } from "../callSamples.js";

export const title = "CPU per small rerank call, one at a time";
export const unit = "µs";

export function measure(options) {
  return measureCalls("cpu", { concurrency: 1 }, options);
}
