// Runs the checks in workerd, and prints their results as JSON.
import * as tunerank from "tunerank";
import { behaviour } from "./behaviour.js";
import { bytes, equal, runChecks, sha256 } from "./checking.js";

export default {
  // What a visitor sends is passed on.
  async fetch(request, { baseUrl }) {
    const client = tunerank.createClient({ baseUrl, apiKey: "runtime-key", accountId: "acme" });
    const id = new URL(request.url).pathname.slice(1);
    const size = Number(request.headers.get("content-length"));
    return Response.json(await client.datasets.upload(id, request.body, { name: "train.jsonl", size }));
  },
  async test(_controller, { baseUrl, closedUrl, self }) {
    const checks = { ...behaviour, ...ofWorkers };
    const results = await runChecks(checks, tunerank, baseUrl, { closedUrl, self });
    console.log(`RESULTS ${JSON.stringify(results)}`);
  },
};

const ofWorkers = {
  async "passes a request's body on"({ received, id, place }) {
    const body = bytes(500_000);
    const response = await place.self.fetch(`https://worker.test/${id("passed")}`, { method: "POST", body });
    equal((await response.json()).bytes, 500_000);
    const [{ file, length }] = await received(id("passed"));
    equal([file.name, file.sha256], ["train.jsonl", await sha256(body)]);
    equal(Number(length) > 500_000, true);
  },
};
