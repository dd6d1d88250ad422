// outage.svg: requests per call, as bars. It brings its own ground, so that it reads on any page.
import type { Figures, Scenario } from "./simulate.js";

// It is JavaScript, without types.
const { style } = (await import(new URL("../palette.js", import.meta.url).href)) as { style: string };

// No wider than a phone shows without shrinking its text.
const width = 400;
const left = 16;
const longestBar = 200;
const rowHeight = 46;
const top = 66;

export function chart(figures: readonly Figures[], { downFromMs, downUntilMs }: Scenario): string {
  const seconds = (downUntilMs - downFromMs) / 1000;
  const calls = (figures[0]?.callsInOutage ?? 0).toLocaleString("en");
  const most = Math.max(...figures.map(({ amplification }) => amplification));
  const height = top + figures.length * rowHeight + 40;
  const said = figures.map(({ policy, amplification }) => `${policy} ${amplification.toFixed(2)}`).join("; ");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title desc">
<title id="title">Requests per call while the service is down: less is better</title>
<desc id="desc">Bars for ${calls} calls made in an outage of ${seconds} seconds. Requests per call: ${said}.</desc>
<style>${style}
</style>
<rect class="ground" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
<text class="heading" x="${left}" y="32">Requests per call while the service is down</text>
<text class="note" x="${left}" y="52">requests sent for each call; less is better</text>
${figures.map((each, index) => row(each, index, most)).join("\n")}
<text class="note" x="${left}" y="${height - 16}">Simulated: ${calls} calls in ${seconds} s, all got a 503.</text>
</svg>
`;
}

function row({ policy, amplification, requestsInOutage }: Figures, index: number, most: number): string {
  const y = top + index * rowHeight;
  const length = ((amplification / most) * longestBar).toFixed(1);
  const own = /^tunerank(,|$)/.test(policy);
  return `<text x="${left}" y="${y + 13}"${own ? ' font-weight="600"' : ""}>${policy}</text>
<rect class="${own ? "own" : "bar"}" x="${left}" y="${y + 19}" width="${length}" height="17" rx="2"/>
<text x="${left + Number(length) + 8}" y="${y + 32}">${amplification.toFixed(2)} (${requestsInOutage.toLocaleString("en")} requests)</text>`;
}
