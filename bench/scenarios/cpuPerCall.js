import { measureCalls } from "../callSamples.js";
import { allClients, overDispatch } from "../contestants.js";

export const title = "CPU per small rerank call, concurrency 16";
export const unit = "µs";

export function measure(options) {
  const contestants = [...allClients, ...overDispatch];
  return measureCalls("cpu", { concurrency: 16, rounds: 9 }, { contestants, ...options });
}
