// The files and functions of src that one warm rerank passes, by V8's precise coverage: `npx tsx scripts/count.ts --call`.
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
  .flatMap(({ url, functions }) => {
    const file = /\/src\/(.*\.ts)$/.exec(url)?.[1];
    // Not the functions that tsx adds to a file.
    const ran = functions.filter(
      ({ functionName, ranges: [range] }) => (range?.count ?? 0) > 0 && functionName !== "__name",
    );
    return file === undefined || ran.length === 0
      ? []
      : [{ file, names: ran.map(({ functionName }) => functionName) }];
  })
  .sort((one, other) => (one.file < other.file ? -1 : 1));
const functions = passed.reduce((sum, { names }) => sum + names.length, 0);
console.log(`${passed.length} files that one warm rerank passes, with ${functions} functions`);
for (const { file, names } of passed) {
  console.log(`  ${file}`);
  if (process.argv.includes("--functions")) console.log(`    ${names.join(", ")}`);
}
await client.close();
server.close();
