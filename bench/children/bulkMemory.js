// The heap over a run of many requests.
import { small } from "../bodies.js";
import { openBulk } from "../clients/tunerankBulk.js";
import { peakBytes } from "../peakBytes.js";

const { baseUrl, requests } = JSON.parse(process.argv[2]);
let results = 0;
const heap = [];

function* source() {
  for (let id = 0; id < requests; id++) yield { id, ...small };
}

for await (const { response } of openBulk(baseUrl)(source())) {
  if (response) results++;
  if (results % (requests / 10) === 0) heap.push(heapUsed());
}
const peakMb = peakBytes() / 1024 ** 2;
console.log(JSON.stringify({ results, growth: heap.at(-1) / heap[0], peakMb }));
process.exit(0);

function heapUsed() {
  global.gc();
  return process.memoryUsage().heapUsed;
}
