import { runChild } from "../runChild.js";
import { startServer } from "../startServer.js";

export const title = "Bulk: an outage of 20 s in the middle of 100,000 requests";
export const unit = "";

export async function measure({ quick, rounds = quick ? 1 : 3, ...child }) {
  const samples = { "requests lost": [], "requests beyond need": [], "seconds to recover": [] };
  for (let round = 0; round < rounds; round++) {
    const server = await startServer();
    try {
      const input = { baseUrl: server.baseUrl, requests: 100_000, outageMs: quick ? 5000 : 20_000 };
      const { lost, refused, seconds } = await runChild("bulkOutage", input, child);
      samples["requests lost"].push(lost);
      samples["requests beyond need"].push(refused);
      samples["seconds to recover"].push(seconds);
    } finally {
      await server.close();
    }
  }
  return samples;
}
