// Simulates an outage of 10,000 calls under several retry policies; writes docs/data/outage.json and docs/public/outage.svg.
import { mkdir, writeFile } from "node:fs/promises";
import { recordRun } from "../../scripts/lastRuns.js";
import { chart } from "./chart.js";
import { policies } from "./policies.js";
import { seededRandom } from "./random.js";
import { type Figures, type Scenario, simulate } from "./simulate.js";
import { countOverSockets } from "./sockets.js";

const docs = new URL("../../docs/", import.meta.url);
const seed = 1;

/** 10,000 of the 15,000 calls begin while the service is down. */
const outage: Scenario = {
  calls: 15_000,
  callsPerSecond: 100,
  downFromMs: 20_000,
  downUntilMs: 120_000,
  answerMs: 20,
  timeoutMs: 60_000,
};

/** What is repeated over sockets. */
const totalOutage: Scenario = {
  ...outage,
  calls: 200,
  callsPerSecond: Number.POSITIVE_INFINITY,
  downFromMs: 0,
  downUntilMs: Number.POSITIVE_INFINITY,
};

const run = (scenario: Scenario): Figures[] =>
  policies.map((policy) => simulate(policy, scenario, seededRandom(seed)));

const figures = run(outage);
console.log("10,000 calls in an outage of 100 s, simulated:");
console.table(figures);
await write("data/outage.json", `${JSON.stringify({ seed, scenario: outage, figures }, null, 2)}\n`);
await write("public/outage.svg", chart(figures, outage));
await compareWithSockets();

async function compareWithSockets(): Promise<void> {
  const counted = await countOverSockets(totalOutage.calls);
  const points = run(totalOutage)
    .filter(({ clients }) => clients === 1)
    .map(({ policy, requests }) => ({ policy, simulated: requests, "over sockets": counted.get(policy) }));
  console.log(`${totalOutage.calls} calls at once to a service that stays down, requests it saw:`);
  console.table(points);
  if (!counted.has("openai"))
    console.log("openai is not installed: npm ci --ignore-scripts --prefix bench adds it.");
  const differing = points.filter((point) => (point["over sockets"] ?? point.simulated) !== point.simulated);
  if (differing.length > 0) {
    console.error("The simulation and the sockets differ.");
    process.exitCode = 1;
  } else if (counted.has("openai")) recordRun("outage");
}

async function write(name: string, text: string): Promise<void> {
  const file = new URL(name, docs);
  await mkdir(new URL(".", file), { recursive: true });
  await writeFile(file, text);
}
