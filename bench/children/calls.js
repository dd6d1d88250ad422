// So many rerank calls, and nothing else: what is counted is outside of the process.
import { callOf } from "../bodies.js";

const input = JSON.parse(process.argv[2]);
const { client, baseUrl, calls, concurrency } = input;
const { open } = await import(`../clients/${client}.js`);
const call = callOf(open(baseUrl), input);

let begun = 0;
const lane = async () => {
  while (begun++ < calls) await call();
};
await Promise.all(Array.from({ length: concurrency }, lane));
process.exit(0);
