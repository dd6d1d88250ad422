// Many small requests at some concurrency: CPU and time of each, after as many to warm up.
import pLimit from "p-limit";
import { small } from "../bodies.js";
import { openBulk } from "../clients/tunerankBulk.js";

const { client, baseUrl, requests, before: runs = [requests], concurrency } = JSON.parse(process.argv[2]);
const rank = client.startsWith("tunerank") && client !== "tunerankLoop" ? await inBulk() : await withPeer();

for (const count of runs) await rank(count);
const before = process.cpuUsage();
const started = performance.now();
const done = await rank(requests);
const ms = performance.now() - started;
const { user, system } = process.cpuUsage(before);
if (done !== requests) throw new Error(`${client} ranked ${done} of ${requests}.`);
console.log(JSON.stringify({ cpu: (user + system) / done, user: user / done, time: (ms * 1000) / done }));
process.exit(0);

async function inBulk() {
  const run = openBulk(baseUrl, client === "tunerankDispatcher" ? await poolOf(baseUrl) : undefined);
  return async (count) => {
    let ranked = 0;
    for await (const { response } of run(requestsOf(count), { concurrency })) if (response) ranked++;
    return ranked;
  };
}

async function poolOf(origin) {
  const { Pool } = await import("undici");
  return new Pool(origin);
}

async function withPeer() {
  const isLoop = client === "tunerankLoop";
  const { open } = await import(`../clients/${isLoop ? "tunerank" : client}.js`);
  const { rerank } = open(baseUrl);
  const inALoop = isLoop || client === "nodeHttp";
  return inALoop ? (count) => inLanes(rerank, count) : (count) => limited(rerank, count);
}

// The least that can be: as many loops as calls may be under way.
async function inLanes(rerank, count) {
  let left = count;
  let ranked = 0;
  const lane = async () => {
    while (left-- > 0) if (await rerank(small)) ranked++;
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  return ranked;
}

async function limited(rerank, count) {
  const limit = pLimit(concurrency);
  const responses = await Promise.all(Array.from({ length: count }, () => limit(() => rerank(small))));
  return responses.filter(Boolean).length;
}

function* requestsOf(count) {
  for (let id = 0; id < count; id++) yield { id, ...small };
}
