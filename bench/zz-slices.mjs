import { small } from "./bodies.js";
const { client: name, baseUrl, entry, kind } = JSON.parse(process.argv[2]);
const { createClient } = await import(entry);
const { rerankAll } = await import(new URL("bulk/index.js", entry));
let dispatcher; if (name === "D") { const { Pool } = await import("undici"); dispatcher = new Pool(baseUrl); }
const client = createClient({ baseUrl, apiKey: "bench-key", accountId: "bench", dispatcher });
function* reqs(n) { for (let id = 0; id < n; id++) yield { id, ...small }; }
const out = [];
let u = process.cpuUsage();
const mark = () => { const d = process.cpuUsage(u); u = process.cpuUsage(); out.push(((d.user + d.system) / 2000).toFixed(0)); };
for (let run = 0; run < 3; run++) {
  let k = 0; console.log("SLICE", run, 0, Number(process.hrtime.bigint() / 1000n));
  if (kind === "bulk") { for await (const { response } of rerankAll(client, reqs(10000), { concurrency: 16 })) { if (response) k++; if (k % 2000 === 0) { mark(); console.log("SLICE", run, k, Number(process.hrtime.bigint() / 1000n)); } } }
  else { let left = 10000; const lane = async () => { while (left-- > 0) { await client.rerank(small); k++; if (k % 2000 === 0) { mark(); console.log("SLICE", run, k, Number(process.hrtime.bigint() / 1000n)); } } }; await Promise.all(Array.from({ length: 16 }, lane)); }
  out.push("|");
}
console.log(kind, name, out.join(" "));
process.exit(0);
