// CPU and time of one rerank call after warm-up, at some concurrency.
import { callOf } from "../bodies.js";

const input = JSON.parse(process.argv[2]);
const { client, baseUrl, concurrency, warmUpCalls, warmUpMs, measureMs } = input;
const { open } = await import(`../clients/${client}.js`);
const call = callOf(open(baseUrl), input);

const warm = performance.now() + warmUpMs;
await callWhile((done) => done < warmUpCalls || performance.now() < warm);
const started = performance.now();
const end = started + measureMs;
const before = process.cpuUsage();
const calls = await callWhile(() => performance.now() < end);
const { user, system } = process.cpuUsage(before);
const time = ((performance.now() - started) * 1000) / calls;
console.log(JSON.stringify({ cpu: (user + system) / calls, time }));
process.exit(0);

async function callWhile(wanted) {
  let done = 0;
  const lane = async () => {
    while (wanted(done)) {
      await call();
      done++;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  return done;
}
