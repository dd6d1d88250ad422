// Runs the checks in Node, Bun or Deno, and prints their results as JSON.
import * as tunerank from "tunerank";
import { checkBehaviour } from "./behaviour.js";

const [baseUrl, closedUrl, path] = process.argv.slice(2);
const place = { closedUrl, path: path || undefined };
console.log(JSON.stringify(await checkBehaviour(tunerank, baseUrl, place)));
