import { small } from "./bodies.js";
const [mode, n, baseUrl, entry] = process.argv.slice(2);
const { createClient } = await import(entry);
const { rerankAll } = await import(new URL("bulk/index.js", "file://" + entry));
let dispatcher;
if (mode.endsWith("D")) { const { Pool } = await import("undici"); dispatcher = new Pool(baseUrl); }
const client = createClient({ baseUrl, apiKey: "bench-key", accountId: "bench", dispatcher });
if (mode.startsWith("loop")) {
  let begun = 0; const lane = async () => { while (begun++ < Number(n)) await client.rerank(small); };
  await Promise.all(Array.from({ length: 16 }, lane));
} else {
  function* reqs() { for (let id = 0; id < Number(n); id++) yield { id, ...small }; }
  let k = 0; for await (const { response } of rerankAll(client, reqs(), { concurrency: 16 })) if (response) k++;
  if (k !== Number(n)) throw new Error("lost");
}
process.exit(0);
