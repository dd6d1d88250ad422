import { measureCalls } from "../callSamples.js";

export const title = "CPU per small rerank call, 64 at once, answers after 20 ms";
export const unit = "µs";

export function measure(options) {
  return measureCalls("cpu", { concurrency: 64, delayMs: 20 }, options);
}
