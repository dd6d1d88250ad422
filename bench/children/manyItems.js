// Items reranked in batches of 1,000: CPU time, how many came back, and the most memory the process ever held.

import { open } from "../clients/tunerank.js";
import { peakBytes } from "../peakBytes.js";

const { baseUrl, items } = JSON.parse(process.argv[2]);
const { rerankItems } = open(baseUrl);
const filler = "All work and no play makes a dull document. ".repeat(24);
const things = Array.from({ length: items }, (_, id) => ({ id }));
// Made when it is asked for: 100 MB of texts would be seen if they were kept.
const text = ({ id }) => `${id} ${filler}`.slice(0, 1024);

const before = process.cpuUsage();
const ranked = await rerankItems("dull work", things, { text, batchSize: 1000 });
const { user, system } = process.cpuUsage(before);
const right = ranked.filter(({ item, index }) => item === things[index]).length;
console.log(JSON.stringify({ microseconds: user + system, ranked: right, peakBytes: peakBytes() }));
process.exit(0);
