import { runChild } from "../runChild.js";
import { startServer } from "../startServer.js";

export const title = "Bulk: 1,000,000 requests in a heap of 256 MB";
export const unit = "";

export async function measure({ quick, requests = quick ? 50_000 : 1_000_000, ...child }) {
  const server = await startServer();
  try {
    const options = { ...child, flags: ["--expose-gc", "--max-old-space-size=256"], timeoutMs: 1_800_000 };
    const { results, growth, peakMb } = await runChild(
      "bulkMemory",
      { baseUrl: server.baseUrl, requests },
      options,
    );
    return {
      results: [results],
      "heap at the end ÷ after a tenth": [growth],
      "MB of the process at most": [peakMb],
    };
  } finally {
    await server.close();
  }
}
