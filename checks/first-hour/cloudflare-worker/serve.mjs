// Serves the bundled worker as `wrangler dev` does, and prints its address.
import { Miniflare } from "miniflare";

const { TUNERANK_BASE_URL, TUNERANK_API_KEY, TUNERANK_ACCOUNT_ID } = process.env;
const worker = new Miniflare({
  modules: true,
  scriptPath: process.argv[2],
  compatibilityDate: "2026-07-01",
  compatibilityFlags: ["enable_request_signal"],
  bindings: { TUNERANK_BASE_URL, TUNERANK_API_KEY, TUNERANK_ACCOUNT_ID },
});
console.log(new URL(await worker.ready).port);
