// Runs the checks in Node, Bun or Deno, and prints their results as JSON.
import * as tunerank from "tunerank";
import { behaviour } from "./behaviour.js";
import { runChecks } from "./checking.js";

const [baseUrl, closedUrl, path, modules] = process.argv.slice(2);
const { idioms } = await (globalThis.Bun
  ? import("./inBun.js")
  : globalThis.Deno
    ? import("./inDeno.js")
    : import("./inNode.js"));
console.log(
  JSON.stringify(
    await runChecks({ ...idioms, ...behaviour }, tunerank, baseUrl, { closedUrl, path, modules }),
  ),
);
