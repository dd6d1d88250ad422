// npm run bench -- outage: 10,000 calls in an outage, simulated under several retry policies; writes docs/data/outage.json and
// docs/public/outage.svg. One point of it is repeated over sockets.
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { recordRun } from "../../scripts/lastRuns.js";
import { createClient } from "../../src/index.js";
import { type Figures, policies, type Scenario, seededRandom, simulate } from "./simulate.js";

const peer = createRequire(new URL("../package.json", import.meta.url));
const docs = new URL("../../docs/", import.meta.url);
const seed = 1;

/** 10,000 of the 15,000 calls begin while the service is down. */
const outage: Scenario = {
  calls: 15_000,
  callsPerSecond: 100,
  downFromMs: 20_000,
  downUntilMs: 120_000,
  answerMs: 20,
  timeoutMs: 60_000,
};

const run = (scenario: Scenario): Figures[] =>
  policies.map((policy) => simulate(policy, scenario, seededRandom(seed)));

type Call = () => PromiseLike<unknown>;
const body = { query: "q", documents: ["d"] };
const apiKey = "outage-key";
const contestants: Readonly<Record<string, (baseUrl: string) => Call>> = {
  tunerank(baseUrl) {
    const client = createClient({ baseUrl, apiKey });
    return () => client.rerank(body);
  },
  // A client for each call: its budget is never empty.
  "tunerank without its budget": (baseUrl) => () => createClient({ baseUrl, apiKey }).rerank(body),
  openai(baseUrl) {
    const client = new (peer("openai").OpenAI)({ apiKey, baseURL: baseUrl });
    return () => client.post("/inference/v1/rerank", { body });
  },
};

const figures = run(outage);
console.log("10,000 calls in an outage of 100 s, simulated:");
console.table(figures);
const json = JSON.stringify({ seed, scenario: outage, figures }, null, 2);
await writeFile(new URL("data/outage.json", docs), `${json}\n`);
await writeFile(new URL("public/outage.svg", docs), picture());
await compareWithSockets(200);

/** Makes calls to a service that stays down, all at once, and compares what it saw with the simulation. */
async function compareWithSockets(calls: number): Promise<void> {
  const always = { downFromMs: 0, downUntilMs: Number.POSITIVE_INFINITY };
  const scenario = { ...outage, ...always, calls, callsPerSecond: Number.POSITIVE_INFINITY };
  const counted = new Map<string, number>();
  for (const [policy, open] of Object.entries(contestants))
    counted.set(policy, await countRequests(calls, open));
  const points = run(scenario)
    .filter(({ clients }) => clients === 1)
    .map(({ policy, requests }) => ({ policy, simulated: requests, "over sockets": counted.get(policy) }));
  console.log(`${calls} calls at once to a service that stays down, requests it saw:`);
  console.table(points);
  if (points.every((point) => point["over sockets"] === point.simulated)) return recordRun("outage");
  console.error("The simulation and the sockets differ.");
  process.exitCode = 1;
}

async function countRequests(calls: number, open: (baseUrl: string) => Call): Promise<number> {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    request.resume().on("end", () => {
      response.writeHead(503, { "content-type": "application/json" });
      response.end(JSON.stringify({ code: "UNAVAILABLE", message: "Down." }));
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const call = open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const settled = await Promise.allSettled(Array.from({ length: calls }, () => call()));
  server.close();
  server.closeAllConnections();
  if (settled.some(({ status }) => status === "fulfilled"))
    throw new Error("A call to a dead service succeeded.");
  return requests;
}

/** Requests per call, as bars, in the colours of the site's pages in both modes, and no wider than a phone. */
function picture(): string {
  const [width, left, longestBar, rowHeight, top] = [400, 16, 200, 46, 66];
  const seconds = (outage.downUntilMs - outage.downFromMs) / 1000;
  const calls = (figures[0]?.callsInOutage ?? 0).toLocaleString("en");
  const most = Math.max(...figures.map(({ amplification }) => amplification));
  const height = top + figures.length * rowHeight + 40;
  const said = figures.map(({ policy, amplification }) => `${policy} ${amplification.toFixed(2)}`).join("; ");
  const rows = figures.map(({ policy, amplification, requestsInOutage }, index) => {
    const y = top + index * rowHeight;
    const length = ((amplification / most) * longestBar).toFixed(1);
    const isOwn = /^tunerank(,|$)/.test(policy);
    return `<text x="${left}" y="${y + 13}"${isOwn ? ' font-weight="600"' : ""}>${policy}</text>
<rect class="${isOwn ? "own" : "bar"}" x="${left}" y="${y + 19}" width="${length}" height="17" rx="2"/>
<text x="${left + Number(length) + 8}" y="${y + 32}">${amplification.toFixed(2)} (${requestsInOutage.toLocaleString("en")} requests)</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title desc">
<title id="title">Requests per call while the service is down: less is better</title>
<desc id="desc">Bars for ${calls} calls made in an outage of ${seconds} seconds. Requests per call: ${said}.</desc>
<style>
  text { font: 13px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1c1f1e; }
  .heading { font-size: 15px; font-weight: 600; }
  .note { fill: #4a514e; }
  .ground { fill: #ffffff; stroke: #d5d1c4; }
  .bar { fill: #b9b4a3; }
  .own { fill: #0d6b5c; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e8e6df; }
    .note { fill: #b9bab3; }
    .ground { fill: #1a1f1e; stroke: #36403d; }
    .bar { fill: #5c6663; }
    .own { fill: #56b8a2; }
  }
</style>
<rect class="ground" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
<text class="heading" x="${left}" y="32">Requests per call while the service is down</text>
<text class="note" x="${left}" y="52">requests sent for each call; less is better</text>
${rows.join("\n")}
<text class="note" x="${left}" y="${height - 16}">Simulated: ${calls} calls in ${seconds} s, all got a 503.</text>
</svg>
`;
}
