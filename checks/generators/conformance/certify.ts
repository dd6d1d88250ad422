// One client under the command that people run.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { root } from "../check/folders.js";
import type { Client } from "./clients.js";

/** What came of a client, as the docs show it. */
export interface Result {
  readonly name: string;
  readonly language: string;
  readonly generated: boolean;
  readonly revision: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** The rows skipped, by what was lacking. */
  readonly skippedFor: Readonly<Record<string, number>>;
  /** The rows that differ, by what differs. */
  readonly differs: Readonly<Record<string, number>>;
  readonly seconds: number;
}

interface Report extends Pick<Result, "revision" | "passed" | "failed" | "skipped" | "skippedFor"> {
  readonly rows: readonly { readonly id: string; readonly differences: readonly string[] }[];
}

/** Runs a client to the end of its rows. */
export async function certify({ name, language, generated, badge, run }: Client): Promise<Result> {
  // A badge is of what a machine can serve: few name servers do not answer when they are to.
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
    language,
    generated: generated === true,
    revision,
    passed,
    failed,
    skipped,
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

// "requests: 1 instead of 3" -> requests; "wait 1: ..." -> waits.
function kindOf(difference: string): string {
  if (difference.startsWith("the key")) return "the key is shown";
  return /^(wait|request) \d+/.exec(difference)?.[1] ?? difference.split(":")[0] ?? difference;
}
