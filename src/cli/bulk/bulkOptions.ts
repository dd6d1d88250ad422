// The options of `rerank` for many queries. Help and completion read them too: nothing here loads what a run needs.
import type { Command } from "commander";
import { numberOf } from "../commonOptions.js";
import { UsageError } from "../context.js";

const minutes = { s: 1 / 60, min: 1, h: 60 } as const;

// "600/min" as requests a minute.
function perMinute(text: string): number {
  const [, count = "", unit = ""] = /^(\d+(?:\.\d+)?)\/(s|min|h)$/.exec(text) ?? [];
  if (!(Number(count) > 0)) throw new UsageError("--rate must be like 600/min, 10/s or 36000/h.");
  return Number(count) / minutes[unit as keyof typeof minutes];
}

/** What `rerank --bulk` takes besides. */
export function addBulkOptions(command: Command): Command {
  return addLimits(addFiles(command.optionsGroup("Many queries:")));
}

function addFiles(command: Command): Command {
  return command
    .option(
      "--bulk <FILE>",
      "A file of JSON Lines, also gzipped, or - for the standard input. Each line is a request: an id, a query and documents, and any other field of a request.",
    )
    .option(
      "--output <FILE>",
      "The file for the results, one line for each id. It is the checkpoint: run the same command again to continue.",
    )
    .option(
      "--errors <FILE>",
      "The file for errors. Without it, invalid requests go to --output, and other failures are only shown.",
    )
    .option(
      "--shard <I/N>",
      "For several machines: rank only the I-th of N parts of the ids, counted from 0. Each part needs its own output.",
    )
    .option(
      "--wait",
      "Wait while another run writes to --output or --errors, instead of ending with an error.",
    )
    .option("--id-field <NAME>", "The field that holds the id. Default: id.")
    .option("--query-field <NAME>", "The field that holds the query. Default: query.")
    .option("--documents-field <NAME>", "The field that holds the documents. Default: documents.");
}

function addLimits(command: Command): Command {
  return command
    .option(
      "--rate <N/UNIT>",
      "Send no more requests than this, evenly: 600/min, 10/s or 36000/h. Use some 95 % of the service's rate. Default: no limit.",
      perMinute,
    )
    .option(
      "--tokens-per-minute <N>",
      "Send no more tokens than this in a minute, as the answers count them. Default: no limit.",
      numberOf("--tokens-per-minute"),
    )
    .option(
      "--total-timeout <SECONDS>",
      "The time for the whole run, from when the input file has been checked; --timeout is for each request. Default: no limit.",
      numberOf("--total-timeout"),
    )
    .option(
      "--max-hold <SECONDS>",
      "The longest wait that the service may ask of the run (Retry-After). 0 never waits, none has no limit. A longer one ends the run, and the same command continues it later. Default: 60.",
      (value) => (value === "none" ? Number.POSITIVE_INFINITY : numberOf("--max-hold")(value)),
    );
}
