// One figure of bulk runs, by turns: each in a process of its own.
import { alternate } from "./alternate.js";
import { bulkClients } from "./contestants.js";
import { runChild } from "./runChild.js";
import { startServer } from "./startServer.js";

export async function measureBulk(figure, { quick, contestants = bulkClients, ...child }) {
  const server = await startServer();
  const input = { baseUrl: server.baseUrl, concurrency: 16, requests: quick ? 2000 : 10_000 };
  try {
    return await alternate(quick ? 3 : 5, contestants, async (client) => {
      const figures = await runChild("bulk", { ...input, client }, child);
      return figures[figure];
    });
  } finally {
    await server.close();
  }
}
