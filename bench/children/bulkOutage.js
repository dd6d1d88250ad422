// A service that is away for some seconds in the middle of a run: what it gets beyond need, and when the run goes on.
import { setTimeout as wait } from "node:timers/promises";
import { small } from "../bodies.js";
import { openBulk } from "../clients/tunerankBulk.js";
import { control } from "../control.js";

const { baseUrl, requests, outageMs } = JSON.parse(process.argv[2]);
let lost = 0;
let results = 0;
let backAt = Number.POSITIVE_INFINITY;
let goneOnAt;

function* source() {
  for (let id = 0; id < requests; id++) yield { id, ...small };
}

for await (const { response } of openBulk(baseUrl)(source())) {
  results++;
  if (!response) lost++;
  if (performance.now() > backAt) goneOnAt ??= performance.now();
  if (results === requests / 2) void outage();
}
const { refused } = await control(baseUrl, "GET", "/stats");
console.log(JSON.stringify({ lost, refused, seconds: (goneOnAt - backAt) / 1000 }));
process.exit(0);

async function outage() {
  await control(baseUrl, "POST", "/away");
  await wait(outageMs);
  await control(baseUrl, "POST", "/back");
  backAt = performance.now();
}
