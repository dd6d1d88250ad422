// One call each second: CPU of each second, what a process costs that has little to do.
import { setTimeout as wait } from "node:timers/promises";
import { small } from "../bodies.js";

const { client, baseUrl, seconds } = JSON.parse(process.argv[2]);
const { open } = await import(`../clients/${client}.js`);
const { rerank } = open(baseUrl);

await rerank(small);
await wait(1000);
const before = process.cpuUsage();
for (let second = 0; second < seconds; second++) {
  await rerank(small);
  await wait(1000);
}
const { user, system } = process.cpuUsage(before);
console.log(JSON.stringify({ cpu: (user + system) / seconds }));
process.exit(0);
