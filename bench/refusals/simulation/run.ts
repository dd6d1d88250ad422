// npm run bench -- refusals --simulated [--seeds N] [--only TEXT]: the schemes with each service, compared with one
// that knows its rule.

import { type Compared, compare, simulated } from "./measure.js";
import { most, schemes } from "./schemes.js";

/** Prints a line for each service: of each scheme the time over the oracle's and the requests over the rows. */
export function printSimulated(seeds: number, only: readonly string[]): void {
  const names = Object.keys(schemes);
  const began = performance.now();
  let runs = 0;
  console.log(
    `${seeds} seeds, ${most} connections. Time ÷ the oracle's, median and p95; requests ÷ rows, p95.`,
  );
  for (const service of simulated.filter(({ name }) => only.some((text) => name.includes(text)))) {
    const compared = compare(service, seeds, names);
    runs += compared.length * seeds;
    console.log(`\n${service.name} (the oracle: ${compared[0]?.oracleSeconds} s)`);
    for (const each of compared) console.log(`  ${lineOf(each)}`);
  }
  const seconds = (performance.now() - began) / 1000;
  console.log(`\n${runs} runs of 1,000 rows in ${seconds.toFixed(1)} s.`);
}

function lineOf({ scheme, time, requests, lost }: Compared): string {
  const rows = lost > 0 ? `, ${lost} ROWS LOST` : "";
  return `${scheme.padEnd(14)} ${time.median.toFixed(2)}, ${time.p95.toFixed(2)}; ${requests.p95.toFixed(2)}${rows}`;
}
