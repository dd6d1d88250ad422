// The files of src that one warm rerank passes, by V8's precise coverage: `npx tsx scripts/count.ts --call`.
import { once } from "node:events";
import http from "node:http";
import { Session } from "node:inspector/promises";
import type { AddressInfo } from "node:net";
import { createClient } from "../src/index.js";

// A reader such as `head` closes early.
process.stdout.on("error", () => process.exit());

const ranking = JSON.stringify({ data: [{ index: 0, relevance_score: 0.5 }] });
const server = http.createServer((request, response) => {
  request
    .resume()
    .on("end", () => response.writeHead(200, { "content-type": "application/json" }).end(ranking));
});
await once(server.listen(0, "127.0.0.1"), "listening");
const { port } = server.address() as AddressInfo;
const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: "counting" });
const call = () => client.rerank({ query: "q", documents: ["d"] });
for (let warm = 0; warm < 3; warm++) await call();

const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
await call();
const { result } = await session.post("Profiler.takePreciseCoverage");
const passed = result
  .filter(({ functions }) => functions.some(({ ranges: [range] }) => (range?.count ?? 0) > 0))
  .map(({ url }) => /\/src\/(.*\.ts)$/.exec(url)?.[1])
  .filter((file) => file !== undefined)
  .sort();
console.log(`${passed.length} files that one warm rerank passes`);
for (const file of passed) console.log(`  ${file}`);
await client.close();
server.close();
