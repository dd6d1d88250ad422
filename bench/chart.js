// chart.svg: bars of the figures that a reader asks for first. It brings its own ground, so that it reads on any page.
import { style } from "./palette.js";
import { isOlder } from "./results.js";

// No wider than a phone shows without shrinking its text.
const width = 400;
const barsFrom = 172;
const longestBar = 92;
const rowHeight = 24;
const headingHeight = 66;

const panels = {
  cpuPerCall: {
    heading: "CPU per small rerank call",
    scale: "microseconds of CPU, 16 calls at a time; less is better",
    unit: "µs",
  },
  startUp: {
    heading: "Process start to first response",
    scale: "milliseconds, minus an empty process; less is better",
    unit: "ms",
  },
  uploadTime: { heading: "Upload of a 150 MB file", scale: "milliseconds; less is better", unit: "ms" },
};

/** Draws the results of the newest Node that was measured: one that is still maintained. */
export function chart(results) {
  const newest = Object.values(results).at(-1);
  let y = 0;
  const shown = Object.entries(panels).filter(([name]) => name in newest.scenarios);
  const drawn = shown.map(([name, panel]) => {
    const scenario = newest.scenarios[name];
    const heading = `${panel.heading}${isOlder(scenario) ? " †" : ""}`;
    const figures = { medians: scenario.medians, labels: newest.labels };
    const { svg, height } = drawPanel({ ...panel, heading }, figures, y);
    y += height;
    return svg;
  });
  const notes = [`Node ${newest.node}, medians of one run; 2.00×: twice tunerank`];
  if (shown.some(([name]) => isOlder(newest.scenarios[name])))
    notes.push("† measured before the last change of the transport");
  const height = y + 14 + 20 * notes.length;
  const title = `tunerank beside other clients on Node ${newest.node}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title">
<title id="title">${title}: less is better</title>
<style>${style}
</style>
<rect class="ground" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${drawn.join("\n")}
${notes.map((note, line) => `<text class="note" x="16" y="${y + 18 + 20 * line}">${note}</text>`).join("\n")}
</svg>
`;
}

function drawPanel({ heading, scale, unit }, { medians, labels }, top) {
  const names = Object.keys(labels).filter((name) => name in medians);
  const rows = names.toSorted((a, b) => medians[a] - medians[b]);
  const longest = Math.max(...rows.map((name) => medians[name]));
  const bars = rows.map((name, index) => {
    const value = medians[name];
    const y = top + headingHeight + index * rowHeight;
    const length = Math.max(1, (value / longest) * longestBar).toFixed(1);
    const times = name === "tunerank" ? "" : ` · ${(value / medians.tunerank).toFixed(2)}×`;
    const own = name === "tunerank";
    return `<text x="${barsFrom - 10}" y="${y + 13}" text-anchor="end"${own ? ' font-weight="600"' : ""}>${labels[name]}</text>
<rect class="${own ? "own" : "bar"}" x="${barsFrom}" y="${y}" width="${length}" height="17" rx="2"/>
<text x="${barsFrom + Number(length) + 8}" y="${y + 13}">${Math.round(value)} ${unit}${times}</text>`;
  });
  const svg = `<text class="heading" x="16" y="${top + 32}">${heading}</text>
<text class="note" x="16" y="${top + 52}">${scale}</text>\n${bars.join("\n")}`;
  return { svg, height: headingHeight + rows.length * rowHeight };
}
