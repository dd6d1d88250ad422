#!/usr/bin/env node
import { main } from "./commandLine.js";

// As in Node, 13 if the event loop is empty before the command is done: then it failed.
process.exitCode = 13;
void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
