// npm run bench -- refusals --drain: how 1,000 rows come to an end with three services; writes docs/public/drain.svg. openai
// with p-limit runs over sockets, the others in simulated time.
import { writeFile } from "node:fs/promises";
import { measure, plans } from "../cells.js";
import type { Service } from "../services.js";
import { ours } from "./judge.js";
import { simulated } from "./measure.js";
import { oracleOf, schemes } from "./schemes.js";
import { simulate } from "./simulate.js";

// It is JavaScript, without types.
const { style } = (await import(new URL("../../palette.js", import.meta.url).href)) as { style: string };

const drawn = ["200 at once", "30 % random 429", "10 at once"];
const peer = "p-limit with openai";
const seed = 1;
const rows = 1000;
// No wider than a phone shows without shrinking its text.
const width = 400;
const [left, right] = [52, 20];
const panelsFrom = 128;
const panelHeight = 176;
const plotHeight = 104;

interface Line {
  readonly name: string;
  readonly look: string;
  /** When each row was ranked, in milliseconds. */
  readonly rankedMs: readonly number[];
}

interface Panel {
  readonly service: string;
  readonly lines: readonly Line[];
}

/** Runs all of them, and draws the picture. */
export async function drawDrain(): Promise<void> {
  const panels: Panel[] = [];
  for (const name of drawn) {
    const service = simulated.find((each) => each.name === name) as Service;
    panels.push({ service: name, lines: await linesOf(service) });
  }
  await writeFile(new URL("../../../docs/public/drain.svg", import.meta.url), picture(panels));
}

async function linesOf(service: Service): Promise<readonly Line[]> {
  const run = (limiterOf: Parameters<typeof simulate>[1] | undefined) =>
    simulate(service, limiterOf as Parameters<typeof simulate>[1], seed, rows).rankedMs;
  return [
    { name: peer.split(" ").reverse().join(" "), look: "other peer", rankedMs: await ofPeer(service) },
    { name: "16 at once", look: "other", rankedMs: run(schemes["fixed 16"]) },
    { name: "knows the service", look: "other known", rankedMs: run(oracleOf(service, seed)) },
    { name: "tunerank", look: "line", rankedMs: run(schemes[ours]) },
  ];
}

async function ofPeer(service: Service): Promise<readonly number[]> {
  const plan = plans.find((each) => each.service === service && each.setting === peer);
  if (plan === undefined) throw new Error(`${peer} does not run with ${service.name}.`);
  let rankedMs: readonly number[] = [];
  const cell = await measure(plan, rows, undefined, (requests) => {
    rankedMs = requests.filter(({ status }) => status === 200).map(({ ms }) => ms + service.responseMs);
  });
  console.log(JSON.stringify(cell));
  return rankedMs;
}

function picture(panels: readonly Panel[]): string {
  const height = panelsFrom + panels.length * panelHeight;
  const said = panels.map(({ service, lines }) => `${service}: ${lines.map(ended).join(", ")}`).join("; ");
  const legend = (panels[0] as Panel).lines.slice().reverse();
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title desc">
<title id="title">Rows ranked over time with three services</title>
<desc id="desc">${said}.</desc>
<style>${style}
</style>
<rect class="ground" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
<text class="heading" x="16" y="30">1,000 rows, ranked over time</text>
<text class="note" x="16" y="50">rows ranked, by seconds; higher is better</text>
${legend.map(({ name, look }, index) => legendOf(name, look, index)).join("\n")}
${panels.map((panel, index) => panelOf(panel, panelsFrom + index * panelHeight)).join("\n")}
</svg>
`;
}

function ended({ name, rankedMs }: Line): string {
  return `${name} ranked ${rankedMs.length} in ${seconds(Math.max(...rankedMs))} s`;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}

function legendOf(name: string, look: string, index: number): string {
  const [x, y] = [16 + (index % 2) * 180, 76 + Math.floor(index / 2) * 22];
  return `<path class="${look}" d="M${x} ${y - 4}h28"/><text x="${x + 36}" y="${y}">${name}</text>`;
}

function panelOf({ service, lines }: Panel, top: number): string {
  const longest = Math.max(...lines.map(({ rankedMs }) => Math.max(...rankedMs)));
  const plot = top + 26;
  const x = (ms: number): string => (left + (ms / longest) * (width - left - right)).toFixed(1);
  const y = (ranked: number): string => (plot + plotHeight * (1 - ranked / rows)).toFixed(1);
  const labels = [0, rows / 2, rows].map(
    (ranked) =>
      `<text class="note" x="${left - 8}" y="${Number(y(ranked)) + 4}" text-anchor="end">${ranked.toLocaleString("en")}</text>`,
  );
  const times = [0, longest / 2, longest].map(
    (ms) =>
      `<text class="note" x="${x(ms)}" y="${plot + plotHeight + 20}" text-anchor="${ms === longest ? "end" : "middle"}">${seconds(ms)} s</text>`,
  );
  const drawnLines = lines.map(
    ({ look, rankedMs }) => `<polyline class="${look}" points="${pointsOf(rankedMs, x, y)}"/>`,
  );
  return [
    `<text x="16" y="${top + 8}" font-weight="600">${service}</text>`,
    ...labels,
    ...times,
    ...drawnLines,
  ].join("\n");
}

// A point for each twentieth row, and the last.
function pointsOf(
  rankedMs: readonly number[],
  x: (ms: number) => string,
  y: (ranked: number) => string,
): string {
  const sorted = [...rankedMs].sort((a, b) => a - b);
  const shown = sorted.map((ms, index) => ({ ms, ranked: index + 1 }));
  const points = shown.filter(({ ranked }) => ranked % 20 === 0 || ranked === sorted.length);
  return [`${x(0)},${y(0)}`, ...points.map(({ ms, ranked }) => `${x(ms)},${y(ranked)}`)].join(" ");
}
