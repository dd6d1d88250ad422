import { measureCalls } from "../callSamples.js";

export const title = "CPU per small rerank call over TLS, concurrency 16";
export const unit = "µs";

export function measure(options) {
  return measureCalls("cpu", { concurrency: 16, isOverTls: true }, options);
}
