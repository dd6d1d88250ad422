// npm run check:generators -- --conformance: clients of several languages under `tunerank conformance`; what a machine
// lacks is said. With --all the broken clients of every language, too, and what ran to its end as it should is written into
// docs/data/conformance.json; --only TEXT runs the clients and languages that have the text in their names.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { recordRun } from "../../../scripts/lastRuns.js";
import { languages, survivorsIn } from "../../../test/mutation/clients.js";
import { today } from "../check/results.js";
import { missing, root } from "../check/toolchains.js";
import { type Client, clients } from "./clients.js";

/** The results that are kept, for the docs. */
export const file: string = join(root, "docs/data/conformance.json");

/** Which of the clients and languages are asked for by parts of their names, all if there is none. */
export function askedFor(only: readonly string[]) {
  return ({ name, language }: { readonly name: string; readonly language: string }): boolean =>
    only.length === 0 ||
    only.some((part) => `${name} ${language}`.toLowerCase().includes(part.toLowerCase()));
}

/** Runs the clients and prints what came of them. `all`: every language's mutants, too; the results are written. */
export async function checkConformance(
  { all }: { readonly all: boolean },
  only: readonly string[] = [],
): Promise<void> {
  const asked = askedFor(only);
  if (![...clients, ...languages].some(asked))
    throw new Error(`No client or language has ${only} in its name.`);
  const results: Result[] = [];
  for (const client of clients.filter(asked)) {
    const lacking = await missing(client.needs);
    if (lacking.length > 0) {
      console.log(`${client.name}: skipped, needs ${lacking.join(", ")}`);
      continue;
    }
    if (client.find && !(await client.find())) continue;
    const result = await certify(client);
    const { passed, failed, skipped, seconds } = result;
    console.log(`${client.name}: ${passed} passed, ${failed} failed, ${skipped} skipped, in ${seconds} s`);
    if (failed > 0 !== (client.generated === true)) process.exitCode = 1;
    else results.push(result);
  }
  const counts = await survivorsIn(languages.filter((one) => (all || one.name === "python") && asked(one)));
  if (counts.some((count) => count > 0)) process.exitCode = 1;
  if (all) await write(results);
  const isWhole = all && results.length === clients.length && counts.length === languages.length;
  if (isWhole && process.exitCode === undefined) recordRun("generatorsConformance");
}

/** Puts what ran to its end as it should into the results that are kept. */
async function write(results: readonly Result[]): Promise<void> {
  const kept = JSON.parse(await readFile(file, "utf8")) as { readonly clients: readonly Result[] };
  const data = {
    ...kept,
    revision: results[0]?.revision ?? kept.clients[0]?.revision,
    clients: clients.flatMap(({ name }) =>
      [...results, ...kept.clients].filter((result) => result.name === name).slice(0, 1),
    ),
  };
  await writeFile(file, `${JSON.stringify(data, null, 2)}\n`);
}

/** What came of a client, as the docs show it. */
export interface Result {
  readonly name: string;
  readonly date: string;
  readonly language: string;
  readonly generated: boolean;
  readonly revision: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** The rows that were served again, because the machine was busy. */
  readonly again: number;
  /** The rows skipped, by what was lacking. */
  readonly skippedFor: Readonly<Record<string, number>>;
  /** The rows that differ, by what differs. */
  readonly differs: Readonly<Record<string, number>>;
  readonly seconds: number;
}

interface Report extends Pick<Result, "revision" | "passed" | "failed" | "skipped" | "skippedFor"> {
  readonly rows: readonly {
    readonly id: string;
    readonly differences: readonly string[];
    readonly whileBusy?: readonly unknown[];
  }[];
}

/** Runs a client to the end of its rows. */
export async function certify({ name, language, generated, badge, run }: Client): Promise<Result> {
  // A badge is of what a machine can serve: few name servers do not respond when they are to.
  const picture = badge ? ["--badge", badge, "--except", "name-server-busy"] : [];
  const options = ["conformance", "--port", "0", "--json", ...picture];
  const child = spawn(process.execPath, [join(root, "dist/cli/main.js"), ...options], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const started = performance.now();
  const printed = text(child.stdout);
  const [line] = (await once(child.stderr, "data")) as [Buffer];
  child.stderr.resume();
  await run((JSON.parse(`${line}`.split("\n")[0] ?? "") as { url: string }).url);
  const report = JSON.parse(await printed) as Report;
  const { revision, passed, failed, skipped, skippedFor, rows } = report;
  if (!generated)
    for (const { id, differences } of rows.filter((row) => row.differences.length > 0))
      console.log(`  ${id}: ${differences.join("; ")}`);
  return {
    name,
    date: today(),
    language,
    generated: generated === true,
    revision,
    passed,
    failed,
    skipped,
    again: rows.filter(({ whileBusy }) => whileBusy !== undefined).length,
    skippedFor,
    differs: differencesIn(rows),
    seconds: Math.round((performance.now() - started) / 1000),
  };
}

function differencesIn(rows: Report["rows"]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { differences } of rows) {
    for (const kind of new Set(differences.map(kindOf))) counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

// "requests: 1 instead of 3" -> requests; "wait 1: ..." -> waits; "call 1: value: ..." -> value.
function kindOf(given: string): string {
  const difference = given.replace(/^call \d+: /, "");
  if (difference.startsWith("the key")) return "the key is shown";
  return /^(wait|request) \d+/.exec(difference)?.[1] ?? difference.split(":")[0] ?? difference;
}
