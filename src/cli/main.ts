#!/usr/bin/env node
import { main } from "./commandLine.js";

let isDone = false;
// If the event loop is empty before the command is done, the command failed: exit with 13, as Node does if an await at
// the top level never settles.
process.once("exit", (code) => {
  if (!isDone && code === 0) process.exitCode = 13;
});
void main(process.argv.slice(2)).then((code) => {
  isDone = true;
  process.exitCode = code;
});
