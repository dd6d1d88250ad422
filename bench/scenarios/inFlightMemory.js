import { alternate, minusMedian } from "../alternate.js";
import { runChild } from "../runChild.js";
import { startServer } from "../startServer.js";

export const title = "1,000 calls in flight, peak memory minus an empty process";
export const unit = "MB";

const clients = ["tunerank", "tunerankDispatcher", "nodeHttp", "undiciPool", "fetch"];
const empty = "empty process";

export async function measure({ quick, contestants = clients, calls = 1000, ...child }) {
  const samples = await alternate(quick ? 3 : 7, [...contestants, empty], async (name) => {
    const server = await startServer();
    try {
      const input = { baseUrl: server.baseUrl, calls, client: name === empty ? undefined : name };
      const { peakBytes } = await runChild("inFlight", input, child);
      return peakBytes / 1e6;
    } finally {
      await server.close();
    }
  });
  return minusMedian(samples, empty, contestants);
}
