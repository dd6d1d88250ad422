// Serves the bundled worker as `wrangler dev` does, and prints its address.
import { Miniflare } from "miniflare";

const { TUNERANK_BASE_URL, TUNERANK_API_KEY } = process.env;
const worker = new Miniflare({
  modules: true,
  scriptPath: process.argv[2],
  compatibilityDate: "2026-07-01",
  bindings: { TUNERANK_BASE_URL, TUNERANK_API_KEY },
});
console.log(new URL(await worker.ready).port);
