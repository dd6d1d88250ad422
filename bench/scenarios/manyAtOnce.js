import { runChild } from "../runChild.js";
import { startServer } from "../startServer.js";

export const title = "5,000 rerank calls at once";
export const unit = "";

export async function measure({ quick, calls = 5000, rounds = quick ? 1 : 5, ...child }) {
  const samples = {
    "calls fulfilled": [],
    "sockets at the server": [],
    "bytes per waiting call": [],
    "warnings of Node": [],
  };
  for (let round = 0; round < rounds; round++) {
    const server = await startServer();
    try {
      const input = { baseUrl: server.baseUrl, calls };
      const { fulfilled, maxSockets, bytesPerCall, warnings } = await runChild("manyAtOnce", input, {
        ...child,
        flags: ["--expose-gc", "--no-warnings"],
      });
      samples["calls fulfilled"].push(fulfilled);
      samples["sockets at the server"].push(maxSockets);
      samples["bytes per waiting call"].push(bytesPerCall);
      samples["warnings of Node"].push(warnings);
    } finally {
      await server.close();
    }
  }
  return samples;
}
