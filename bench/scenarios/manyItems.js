import { runChild } from "../runChild.js";
import { startServer } from "../startServer.js";

export const title = "100,000 items of 1 KB reranked in batches of 1,000";
export const unit = "";

// With all of the machine's memory the collector waits as long as it likes: how long says nothing of what is needed.
const smallHeap = ["--max-old-space-size=96"];
const memory = "peak memory in MB, minus that of an empty process; heap limit 96 MB";

export async function measure({ quick, rounds = quick ? 1 : 5, ...child }) {
  const samples = {
    "items ranked": [],
    "CPU per item ÷ that of 10,000 items": [],
    [memory]: [],
    "ms of CPU": [],
  };
  const server = await startServer();
  const run = (items, flags = []) =>
    runChild("manyItems", { baseUrl: server.baseUrl, items }, { ...child, flags });
  try {
    for (let round = 0; round < rounds; round++) {
      const none = await run(0);
      const few = await run(10_000);
      const many = await run(100_000);
      // What a process costs before its first item is no item's.
      const perItem = ({ microseconds, ranked }) => (microseconds - none.microseconds) / ranked;
      samples["items ranked"].push(many.ranked);
      samples["CPU per item ÷ that of 10,000 items"].push(perItem(many) / perItem(few));
      const peak = async (items) => (await run(items, smallHeap)).peakBytes;
      samples[memory].push(((await peak(100_000)) - (await peak(0))) / 1e6);
      samples["ms of CPU"].push(many.microseconds / 1000);
    }
  } finally {
    await server.close();
  }
  return samples;
}
