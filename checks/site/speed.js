// How a page loads for the first time on a phone: what it asks for, how heavy that is, and when most of it is painted.
import { phone } from "./visit.js";

// Lighthouse's slow 4G, and its slow phone: 1.6 Mbit/s, 150 ms there and back, a quarter of the processor.
const slow4G = { offline: false, latency: 150, downloadThroughput: 204_800, uploadThroughput: 84_000 };
const slowdown = 4;

/** The addresses asked for with their bytes on the wire, and the largest paint in milliseconds. */
export async function load(site, address, { slow = false } = {}) {
  const { page, context, close } = await site.open("robots.txt", { apart: true, viewport: phone });
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  if (slow) {
    await session.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
    await session.send("Network.emulateNetworkConditions", slow4G);
  }
  const names = new Map();
  const bytes = new Map();
  session.on("Network.requestWillBeSent", ({ requestId, request }) =>
    names.set(requestId, request.url.replace(site.origin, "")),
  );
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) =>
    bytes.set(names.get(requestId), encodedDataLength),
  );
  await page.goto(`${site.origin}/${address}`, { waitUntil: "networkidle" });
  const paint = await page.evaluate(largestPaint);
  await close();
  return { bytes, paint };
}

function largestPaint() {
  return new Promise((done) => {
    const observer = new PerformanceObserver((list) => done(list.getEntries().at(-1).startTime));
    observer.observe({ type: "largest-contentful-paint", buffered: true });
  });
}
