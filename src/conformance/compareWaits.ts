// How long a client waited, and how long it took, against what is due.
import type { Expected } from "./cells.js";
import type { WaitBounds } from "./data.js";
import { type RequestLog, waitsIn } from "./serve/serveCell.js";

export function waitDifferences(expected: Expected, log: RequestLog): readonly string[] {
  const { requests, requestsByCall, minWaitMs = 0, maxWaitMs, minTotalWaitMs, minSpreadMs } = expected;
  // Of other requests nobody knows which of them are retries.
  if (requestsByCall !== undefined && log.length !== requests) return [];
  const waits = waitsIn(log, requestsByCall).map(({ ms }) => ms);
  const found = waits.flatMap((ms, index) => {
    if (ms < minWaitMs) return [`wait ${index + 1}: ${ms} ms, and at least ${minWaitMs} are asked for`];
    return maxWaitMs !== undefined && ms > maxWaitMs
      ? [`wait ${index + 1}: ${ms} ms, and at most ${maxWaitMs} are due`]
      : [];
  });
  const total = waits.reduce((sum, ms) => sum + ms, 0);
  if (minTotalWaitMs !== undefined && total < minTotalWaitMs) {
    found.push(`waits: ${total} ms together, and at least ${minTotalWaitMs} are due`);
  }
  const spread = Math.max(...waits) - Math.min(...waits);
  if (minSpreadMs !== undefined && spread < minSpreadMs) {
    found.push(`waits: all within ${spread} ms, and they are drawn by chance (jitter)`);
  }
  return [...found, ...(expected.waits ?? []).flatMap((bounds) => drawnDifferences(bounds, expected, log))];
}

// The waits before the nth retry of each call, which are drawn alike.
function drawnDifferences(bounds: WaitBounds, expected: Expected, log: RequestLog): readonly string[] {
  const { retry, minMeanMs, maxMeanMs, minSpreadMs, maxLeastMs, minGrowthMs = 0 } = bounds;
  const waits = waitsIn(log, expected.requestsByCall);
  const before = (nth: number): readonly number[] =>
    waits.flatMap(({ retry, ms }) => (retry === nth ? [ms] : []));
  const drawn = before(retry);
  const mean = meanOf(drawn);
  const growth = retry > 1 ? mean - meanOf(before(retry - 1)) : 0;
  const least = Math.min(...drawn);
  const spread = withoutEnds(drawn);
  const found = [
    mean < minMeanMs && `${mean} ms on average, and at least ${minMeanMs} are due`,
    mean > maxMeanMs && `${mean} ms on average, and at most ${maxMeanMs} are due`,
    spread < minSpreadMs && `four of five within ${spread} ms, and at least ${minSpreadMs} are due`,
    least > maxLeastMs && `none below ${least} ms, and one below ${maxLeastMs} is due`,
    growth < minGrowthMs &&
      `${growth} ms longer on average than those before, and at least ${minGrowthMs} are due`,
  ];
  return found.filter((text) => text !== false).map((text) => `waits before retry ${retry}: ${text}`);
}

function meanOf(waits: readonly number[]): number {
  return Math.round(waits.reduce((sum, ms) => sum + ms, 0) / waits.length);
}

// Of a busy machine some waits are longer: a tenth at each end does not count.
function withoutEnds(drawn: readonly number[]): number {
  const ordered = [...drawn].sort((a, b) => a - b);
  const left = Math.floor(ordered.length / 10);
  return (ordered[ordered.length - 1 - left] ?? 0) - (ordered[left] ?? 0);
}

export function timeDifferences({ tookMs }: Expected, took: number): readonly string[] {
  if (tookMs === undefined) return [];
  const ms = Math.round(took);
  if (ms < tookMs.min) return [`time: the call ended after ${ms} ms, and not before ${tookMs.min} are due`];
  return ms > tookMs.max ? [`time: the call ended after ${ms} ms, and at most ${tookMs.max} are due`] : [];
}
