import { alternate } from "../alternate.js";
import { runChild } from "../runChild.js";
import { startServer } from "../startServer.js";

export const title = "Rerank with 10,000 documents of 1 KB, each sent back, CPU";
export const unit = "ms";

export async function measure({ quick, ...child }) {
  const server = await startServer();
  const load = { warmUpCalls: quick ? 3 : 5, warmUpMs: 0, measureMs: quick ? 1000 : 2500 };
  const input = { baseUrl: server.baseUrl, body: "large", concurrency: 1, ...load };
  try {
    return await alternate(quick ? 3 : 9, ["tunerank", "nodeHttp"], async (client) => {
      const { cpu } = await runChild("callCost", { ...input, client }, child);
      return cpu / 1000;
    });
  } finally {
    await server.close();
  }
}
