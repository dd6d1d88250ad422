// npm run bench -- picture: a real run against a server that refuses, asks to wait, and goes away; writes docs/public/bulk.svg.
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { small } from "./bodies.js";
import { openBulk } from "./clients/tunerankBulk.js";
import { style } from "./palette.js";

const seconds = 16;
const stepMs = 250;
const stepsPerSecond = 1000 / stepMs;
const latencyMs = 40;
const mostAtOnce = 24;
const ranked = small.documents.map((_, index) => ({ index, relevance_score: 1 / (index + 1) }));
const outage = { from: 9, until: 12 };
// No wider than a phone shows without shrinking its text.
const width = 400;
const [left, right, top, bottom] = [48, 36, 136, 320];

const responded = Array(seconds * stepsPerSecond).fill(0);
const limits = Array(seconds * stepsPerSecond).fill(undefined);
const { server, baseUrl, counts } = await startService();
const started = performance.now();
const elapsed = () => (performance.now() - started) / 1000;
const slot = () => Math.min(responded.length - 1, Math.floor((elapsed() * 1000) / stepMs));
let done = 0;

const onAttempt = ({ code, concurrency }) => {
  if (code === undefined) responded[slot()]++;
  limits[slot()] = concurrency;
};
for await (const { error } of openBulk(baseUrl)(source(), { onAttempt })) if (!error) done++;
server.close();
server.closeAllConnections();
writeFileSync(new URL("../docs/public/bulk.svg", import.meta.url), chart());
console.log(`${done} ranked, ${counts.refused} refused, ${counts.away} sent in the outage.`);

function* source() {
  for (let id = 0; elapsed() < seconds; id++) yield { id, ...small };
}

// Takes 24 at once; the first that is too many at the fifth second is asked to wait for two.
async function startService() {
  const found = { refused: 0, away: 0 };
  let open = 0;
  let isAsked = false;
  const service = createServer((request, response) => {
    request.resume();
    open++;
    response.on("close", () => open--);
    const respond = (status, headers, body) =>
      setTimeout(() => response.writeHead(status, headers).end(JSON.stringify(body)), latencyMs);
    const now = elapsed();
    if (now >= outage.from && now < outage.until) {
      found.away++;
      respond(503, {}, { code: "UNAVAILABLE" });
    } else if (open > mostAtOnce) {
      found.refused++;
      const headers = now > 5 && !isAsked ? { "retry-after": "2" } : {};
      if (now > 5) isAsked = true;
      respond(429, headers, {});
    } else respond(200, {}, { object: "list", data: ranked });
  });
  await new Promise((resolve) => service.listen(0, "127.0.0.1", resolve));
  return { server: service, baseUrl: `http://127.0.0.1:${service.address().port}`, counts: found };
}

function chart() {
  const x = (index) => (left + (index / responded.length) * (width - left - right)).toFixed(1);
  const mostResponses = Math.max(...responded);
  const y = (share) => (bottom - share * (bottom - top)).toFixed(1);
  const area = responded.map((count, index) => `${x(index)},${y(count / mostResponses)}`).join(" ");
  let limit = 4;
  const line = limits.map((each, index) => {
    limit = each ?? limit;
    return `${x(index)},${y(limit / 32)}`;
  });
  const perSecond = mostResponses * stepsPerSecond;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${bottom + 84}" width="${width}" height="${bottom + 84}" role="img" aria-labelledby="title desc">
<title id="title">A bulk run of ${seconds} seconds</title>
<desc id="desc">${done} requests were ranked, ${counts.refused} attempts refused, and ${counts.away} sent while the service was away.</desc>
<style>${style}
</style>
<rect class="ground" x="0.5" y="0.5" width="${width - 1}" height="${bottom + 83}" rx="8"/>
<text class="heading" x="16" y="30">${seconds} seconds of a bulk run</text>
<text class="note" x="16" y="50">The service takes ${mostAtOnce} requests at once,</text>
<text class="note" x="16" y="68">asks to wait, and goes away (red).</text>
<text class="note" x="16" y="92">Area, scale on the left: responses a second.</text>
<text class="note" x="16" y="110">Line, scale on the right: the client's limit.</text>
${[0, 0.5, 1].map((share) => `<text class="note" x="${left - 6}" y="${Number(y(share)) + 4}" text-anchor="end">${share * perSecond}</text><text class="note" x="${width - right + 6}" y="${Number(y(share)) + 4}">${share * 32}</text>`).join("\n")}
<rect class="away" x="${x(outage.from * stepsPerSecond)}" y="${top}" width="${x(outage.until * stepsPerSecond) - x(outage.from * stepsPerSecond)}" height="${bottom - top}"/>
<polygon class="area" points="${left},${bottom} ${area} ${width - right},${bottom}"/>
<polyline class="line" points="${line.join(" ")}"/>
${Array.from({ length: seconds / 4 + 1 }, (_, index) => `<text class="note" x="${x(index * 4 * stepsPerSecond)}" y="${bottom + 20}" text-anchor="middle">${index * 4} s</text>`).join("\n")}
<text class="note" x="16" y="${bottom + 46}">${done} ranked, none lost; ${counts.refused} refused and sent again,</text>
<text class="note" x="16" y="${bottom + 64}">${counts.away} sent while the service was away.</text>
</svg>
`;
}
