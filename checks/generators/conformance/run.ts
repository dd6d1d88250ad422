// npm run check:generators -- --conformance: clients of several languages under `tunerank conformance`; what a machine
// lacks is said. With --all the broken clients of every language, too; then a complete run writes docs/data/conformance.json and the badge.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../check/folders.js";
import { missing } from "../check/toolchains.js";
import { certify, type Result } from "./certify.js";
import { clients } from "./clients.js";
import { scoresOf } from "./mutants.js";

/** Runs every client, prints what came of it, and writes the results of a complete run. @param all Every language's mutants. */
export async function checkConformance(all: boolean): Promise<void> {
  const results: Result[] = [];
  let complete = true;
  for (const client of clients) {
    const lacking = await missing(client.needs);
    if (lacking.length > 0) {
      console.log(`${client.name}: skipped, needs ${lacking.join(", ")}`);
      complete = false;
      continue;
    }
    const result = await certify(client);
    const { passed, failed, skipped, seconds } = result;
    console.log(`${client.name}: ${passed} passed, ${failed} failed, ${skipped} skipped, in ${seconds} s`);
    if (failed > 0 !== (client.generated === true)) process.exitCode = 1;
    results.push(result);
  }
  const scores = await scoresOf(all);
  for (const { language, killed, of, survivors } of scores) {
    console.log(`${language}: ${killed} of ${of} broken clients are told`);
    for (const { name, why } of survivors) console.log(`  ${name}: ${why}`);
    if (survivors.length > 0) process.exitCode = 1;
  }
  if (!complete || !all || process.exitCode) {
    console.log("docs/data/conformance.json is left as it is: it holds complete runs only.");
    return;
  }
  const data = {
    date: new Date().toISOString().slice(0, 10),
    revision: results[0]?.revision,
    clients: results,
    mutants: scores.map(({ language, killed, of }) => ({ language, killed, of })),
  };
  await writeFile(join(root, "docs/data/conformance.json"), `${JSON.stringify(data, null, 2)}\n`);
}
