// Many calls at once while the server holds its responses: what each waiting call costs, and whether all settle.
import { setTimeout as wait } from "node:timers/promises";
import { small } from "../bodies.js";
import { open } from "../clients/tunerank.js";
import { control } from "../control.js";

const { baseUrl, calls } = JSON.parse(process.argv[2]);
const { rerank } = open(baseUrl);
let warnings = 0;
process.on("warning", () => warnings++);
await rerank(small);
await control(baseUrl, "POST", "/hold");

const before = heldBytes();
const running = Array.from({ length: calls }, () => rerank(small));
const settled = Promise.allSettled(running);
await allSocketsBusy();
const bytesPerCall = (heldBytes() - before) / calls;
await control(baseUrl, "POST", "/release");
const outcomes = await settled;
const { maxSockets } = await control(baseUrl, "GET", "/stats");
const fulfilled = outcomes.filter(({ status }) => status === "fulfilled").length;
console.log(JSON.stringify({ bytesPerCall, fulfilled, maxSockets, warnings }));
process.exit(0);

function heldBytes() {
  global.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function allSocketsBusy() {
  let last = -1;
  for (;;) {
    const { held } = await control(baseUrl, "GET", "/stats");
    if (held === last && held > 0) return;
    last = held;
    await wait(200);
  }
}
