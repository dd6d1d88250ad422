// What the search has to hold in the simulation, over all seeds.
import type { Service } from "../services.js";
import type { Compared, Second } from "./measure.js";

/** The bounds of one service, for the 95th percentile. */
export interface Bounds {
  /** Time over the oracle's. */
  readonly time: number;
  /** Requests over rows; absent where 429s do not follow a fixed number or rate. */
  readonly requests?: number;
  /** Time over that of a fixed 16. */
  readonly overFixed: number;
}

/** The name of ours among the schemes. */
export const ours = "tunerank";
// Never worse than this, compared with a fixed 16.
const overFixed = 1.15;
// The doubling at the start.
const startRounds = 5;

/** What does not hold, and no worse than this: a bound that is missed is named, and may not become worse. */
const missed: Readonly<Record<string, Partial<Bounds>>> = {
  "429s in bursts of 0.5 s": { time: 8, overFixed: 1.25 },
  "30 % random 429": { time: 1.25 },
  "50 a second, 429 with Retry-After as a date": { requests: 1.13 },
  "3,600,000 tokens a minute, 50 to 5,000 a request": { requests: 1.35 },
};

/** The aim: 1.15 times the oracle's time, 1.3 times where the service changes, and five response times. */
export function boundsOf({ responseMs, isChanging, known }: Service, oracleSeconds: number): Bounds {
  const start = (startRounds * responseMs) / 1000 / oracleSeconds;
  const time = Math.round(((isChanging ? 1.3 : 1.15) + start) * 1000) / 1000;
  return known === undefined || isChanging ? { time, overFixed } : { time, overFixed, requests: 1.05 };
}

/** The aims that ours misses. */
export function missesOf(service: Service, compared: readonly Compared[]): readonly string[] {
  return problems(compared, boundsOf(service, compared[0]?.oracleSeconds as number));
}

/** What is worse than the aims, and than what is known to miss them. */
export function problemsOf(service: Service, compared: readonly Compared[]): readonly string[] {
  const bounds = boundsOf(service, compared[0]?.oracleSeconds as number);
  return problems(compared, { ...bounds, ...missed[service.name] });
}

function problems(compared: readonly Compared[], bounds: Bounds): readonly string[] {
  const found = compared.find(({ scheme }) => scheme === ours) as Compared;
  const { time, requests, overFixed, lost } = found;
  // Where no scheme reaches a bound, the least that one reaches is the bound.
  const others = compared.slice(1).filter(({ scheme, lost }) => scheme !== ours && lost === 0);
  const least = Math.min(...others.map(({ time }) => time.p95));
  const mostTime = others.length > 0 ? Math.max(bounds.time, least) : bounds.time;
  const { requests: mostRequests = Number.POSITIVE_INFINITY } = bounds;
  return [
    time.p95 > mostTime &&
      `${time.p95} times the oracle's time (aim: ${mostTime}${mostTime === least ? ", which is what the best other scheme reaches" : ""})`,
    requests.p95 > mostRequests && `${requests.p95} requests a row (aim: ${mostRequests})`,
    overFixed > bounds.overFixed &&
      `${overFixed} times the time of a fixed 16 with the same seed (aim: ${bounds.overFixed})`,
    lost > 0 && `${lost} rows lost`,
  ].filter((text) => text !== false);
}

/**
 * What does not hold of a second run, compared with one that knows nothing of the first. Where the service changes, how
 * many requests are rejected is also chance.
 */
export function secondProblems({ isChanging }: Service, { time, requests, lost }: Second): readonly string[] {
  return [
    time > 1.05 && `a second run takes ${time} times as long as one that knows nothing`,
    requests > (isChanging ? 1.03 : 1) && `a second run sends ${requests} times the requests`,
    lost > 0 && `${lost} rows lost by a second run`,
  ].filter((text) => text !== false);
}
