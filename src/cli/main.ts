#!/usr/bin/env node
import { main } from "./commandLine.js";

let isDone = false;
// An event loop that is empty before the command is done is a failure, with the code of an await that never ends.
process.once("exit", (code) => {
  if (!isDone && code === 0) process.exitCode = 13;
});
void main(process.argv.slice(2)).then((code) => {
  isDone = true;
  process.exitCode = code;
});
