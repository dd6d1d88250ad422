#!/usr/bin/env node
import { main } from "./commandLine.js";

process.exitCode = await main(process.argv.slice(2));
