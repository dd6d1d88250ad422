// Runs the checks in Node, Bun or Deno, and prints their results as JSON.
import * as tunerank from "tunerank";
import { behaviour } from "./behaviour.js";
import { runChecks } from "./checking.js";
import { bun } from "./inBun.js";
import { deno } from "./inDeno.js";
import { node } from "./inNode.js";

const [baseUrl, closedUrl, path] = process.argv.slice(2);
const idioms = globalThis.Bun ? bun : globalThis.Deno ? deno : node;
console.log(
  JSON.stringify(await runChecks({ ...idioms, ...behaviour }, tunerank, baseUrl, { closedUrl, path })),
);
