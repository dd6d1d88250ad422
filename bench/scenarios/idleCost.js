import { alternate } from "../alternate.js";
import { judgedClients } from "../contestants.js";
import { runChild } from "../runChild.js";
import { startServer } from "../startServer.js";

export const title = "CPU of each second with one small rerank call";
export const unit = "µs";

/** A minute of each contestant in each round: 18 minutes in all; with `quick` two of 20 s, 4 minutes. */
export async function measure({ quick, contestants = judgedClients, ...child }) {
  const server = await startServer();
  const input = { baseUrl: server.baseUrl, seconds: quick ? 20 : 60 };
  try {
    return await alternate(quick ? 2 : 3, contestants, async (client) => {
      const { cpu } = await runChild("idle", { ...input, client }, child);
      return cpu;
    });
  } finally {
    await server.close();
  }
}
