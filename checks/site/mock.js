// The contract's own mock, and what it received.
import { once } from "node:events";
import { request as ask, createServer } from "node:http";
import { startMock } from "../../scripts/mock/startMock.ts";

/** Prism behind a server that notes each request and passes it on unchanged, as it does the answer. */
export async function startRecordedMock() {
  const prism = await startMock();
  const received = [];
  const server = createServer(async (request, response) => {
    const { method, url, headers } = request;
    const chunks = await request.toArray();
    received.push({ method, url, headers, body: Buffer.concat(chunks) });
    const passed = ask(prism.url + url, { method, headers }, (upstream) => {
      response.writeHead(upstream.statusCode, upstream.headers);
      upstream.pipe(response);
    });
    passed.end(Buffer.concat(chunks));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    host: `127.0.0.1:${server.address().port}`,
    received,
    async close() {
      server.closeAllConnections();
      server.close();
      await prism.stop();
    },
  };
}
