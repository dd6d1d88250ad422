// The names of those who are measured, by their keys in clients.js, and who takes part where.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

export const labels = {
  tunerank: "tunerank",
  nodeHttp: "node:http, bare",
  undici: "undici request",
  fetch: "fetch",
  togetherAi: "together-ai",
  openai: "openai",
  cohereAi: "cohere-ai",
  curl: "curl -F",
  tunerankDispatcher: "tunerank with a dispatcher",
  tunerankLoop: "client.rerank in a loop",
  undiciPool: "undici Pool.request",
  tunerankHttp2: "tunerank with a dispatcher",
  nodeHttp2: "node:http2, by hand",
  undiciPoolHttp2: "undici Pool.request",
  nodeHttpByHand: "node:http, by hand",
  undiciPoolByHand: "undici Pool.request, by hand",
};

/** Over undici's dispatch, measured for calls one by one. */
export const overDispatch = ["tunerankDispatcher", "undiciPool"];

export const allClients = Object.keys(labels).filter(
  (name) => !/^curl$|(Loop|Http2|ByHand)$/.test(name) && !overDispatch.includes(name),
);

/** Those that rank many requests: `rerankAll`, loops over `client.rerank` and node:http, and p-limit over the others. */
export const bulkClients = ["tunerank", "tunerankDispatcher", "tunerankLoop", "nodeHttp", "openai"];

export function peerVersions() {
  const read = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
  const { dependencies: peers } = read("package.json");
  const versions = { tunerank: read("../package.json").version };
  for (const name of Object.keys(peers)) versions[name] = read(`node_modules/${name}/package.json`).version;
  versions.curl = /^curl (\S+)/.exec(execFileSync("curl", ["--version"], { encoding: "utf8" }))?.[1];
  return versions;
}

/** The exact version of a Node binary. */
export function nodeVersion(node) {
  return execFileSync(node, ["--version"], { encoding: "utf8" }).trim().slice(1);
}
