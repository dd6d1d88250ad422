import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A service on a port that answers every rerank, to pages of any origin too. */
export async function startAnswering(): Promise<{ readonly url: string; close(): void }> {
  const answer = JSON.stringify({ object: "list", data: [{ index: 0, relevance_score: 0.5 }] });
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      const cors = { "access-control-allow-origin": "*", "access-control-allow-headers": "*" };
      response.writeHead(200, { "content-type": "application/json", ...cors }).end(answer);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
