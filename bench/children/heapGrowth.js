// The heap after every so many calls that share one signal, and what is left in the end.
import { getEventListeners } from "node:events";
import { small } from "../bodies.js";
import { open } from "../clients/tunerank.js";

const { baseUrl, calls, every } = JSON.parse(process.argv[2]);
const { rerank } = open(baseUrl);
const { signal } = new AbortController();
let warnings = 0;
process.on("warning", () => warnings++);

// Compiled code is dropped and made anew at first: those calls are not looked at.
await call(3 * every);
const timersBefore = activeTimers();
const heap = [heapUsed()];
for (let done = 0; done < calls; done += every) {
  await call(every);
  heap.push(heapUsed());
}
const listeners = getEventListeners(signal, "abort").length;
const timers = activeTimers() - timersBefore;
console.log(JSON.stringify({ heap, listeners, timers, warnings }));
process.exit(0);

async function call(count) {
  let left = count;
  const lane = async () => {
    while (left-- > 0) await rerank(small, { signal });
  };
  await Promise.all(Array.from({ length: 16 }, lane));
}

function heapUsed() {
  global.gc();
  return process.memoryUsage().heapUsed;
}

function activeTimers() {
  return process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
}
