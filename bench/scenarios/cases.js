// Calls that are not the plain one: each beside what has the same written by hand over node:http, undici's Pool and fetch.
import { scenario } from "./calls.js";

const clients = ["tunerank", "tunerankDispatcher", "nodeHttpByHand", "undiciPoolByHand", "fetchByHand"];
// A call of 10 MB takes a tenth of a second: few of them settle.
const largeLoad = { warmUpCalls: 20, warmUpMs: 1000, measureMs: 3000 };
const large = { concurrency: 1, load: largeLoad, quickLoad: { ...largeLoad, warmUpCalls: 5 }, unit: "ms" };

/** By name, as `results.json` has them. */
export const cases = {
  cpuHttp2: scenario("CPU per small rerank call over HTTP/2, concurrency 16", "cpu", {
    isOverTls: true,
    isHttp2: true,
    clients: ["tunerankHttp2", "nodeHttp2", "undiciPoolHttp2"],
  }),
  cpuGzip: scenario("CPU per rerank call with 40 documents, the response gzipped, concurrency 16", "cpu", {
    clients,
    body: "medium",
    rerankWith: "gzip",
  }),
  cpuNotFound: scenario("CPU per small rerank call that fails with 404, concurrency 16", "cpu", {
    clients,
    rerankWith: "notFound",
    failsWith: 404,
  }),
  cpuRetried: scenario("CPU per small rerank call, one of 20 retried after a 503, concurrency 16", "cpu", {
    clients,
    rerankWith: "everyTwentiethFails",
    // By chance, a call's retries are each the 20th again.
    mayFailWith: 503,
  }),
  cpuLargeResponse: scenario("CPU per rerank call with a response of 10 MB, one at a time", "cpu", {
    ...large,
    clients,
    rerankWith: "tenMegabytes",
  }),
  cpuLongDocuments: scenario(
    "CPU per rerank call with 1,000 documents of 10,000 characters, one at a time",
    "cpu",
    {
      ...large,
      clients,
      body: "longDocuments",
      rerankWith: "short",
    },
  ),
};
