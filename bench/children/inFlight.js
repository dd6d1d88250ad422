// The most memory of a process with so many calls in flight; without a client, of an empty one.
import { setTimeout as wait } from "node:timers/promises";
import { small } from "../bodies.js";
import { control } from "../control.js";
import { peakBytes } from "../peakBytes.js";

const { client, baseUrl, calls } = JSON.parse(process.argv[2]);
if (client) await callAtOnce();
console.log(JSON.stringify({ peakBytes: peakBytes() }));
process.exit(0);

async function callAtOnce() {
  const { open } = await import(`../clients/${client}.js`);
  const { rerank } = open(baseUrl);
  await rerank(small);
  await control(baseUrl, "POST", "/hold");
  const running = Array.from({ length: calls }, () => rerank(small));
  // A client with a limit of sockets keeps the others waiting.
  for (let held = 0, last = -1; held === 0 || held !== last; await wait(200)) {
    last = held;
    held = (await control(baseUrl, "GET", "/stats")).held;
  }
  await control(baseUrl, "POST", "/release");
  await Promise.all(running);
}
