// So many small rerank calls, and nothing else: what is counted is outside of the process.
import { small } from "../bodies.js";

const { client, baseUrl, calls, concurrency } = JSON.parse(process.argv[2]);
const { open } = await import(`../clients/${client}.js`);
const { rerank } = open(baseUrl);

let begun = 0;
const lane = async () => {
  while (begun++ < calls) await rerank(small);
};
await Promise.all(Array.from({ length: concurrency }, lane));
process.exit(0);
