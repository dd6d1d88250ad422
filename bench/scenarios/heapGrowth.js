import { median } from "../alternate.js";
import { runChild } from "../runChild.js";
import { startServer } from "../startServer.js";

export const title = "Heap after 100,000 calls";
export const unit = "";

export async function measure({ calls = 100_000, every = calls / 10, quick: _quick, ...child }) {
  const server = await startServer();
  try {
    const input = { baseUrl: server.baseUrl, calls, every };
    const options = { ...child, flags: ["--expose-gc", "--no-warnings"] };
    const { heap, listeners, timers, warnings } = await runChild("heapGrowth", input, options);
    return {
      "bytes kept per call": [slope(heap) / every],
      "listeners left": [listeners],
      "timers left": [timers],
      "warnings of Node": [warnings],
    };
  } finally {
    await server.close();
  }
}

/** The median slope of all pairs of values taken at equal distances: one that stands out does not bend it. */
function slope(values) {
  const slopes = values.flatMap((value, index) =>
    values.slice(index + 1).map((later, distance) => (later - value) / (distance + 1)),
  );
  return median(slopes);
}
