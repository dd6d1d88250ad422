import { measureBulk } from "../bulkSamples.js";

export const title = "Bulk: CPU per small request, concurrency 16 (p-limit over the peers)";
export const unit = "µs";

export function measure(options) {
  return measureBulk("cpu", options);
}
