import { measureBulk } from "../bulkSamples.js";

export const title = "Bulk: time per small request, concurrency 16 (p-limit over the peers)";
export const unit = "µs";

export function measure(options) {
  return measureBulk("time", options);
}
