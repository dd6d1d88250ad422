// What each scheme needs with each service, compared with the oracle: medians and 95th percentiles over seeds.
import { Limiter } from "../../../src/policy/limiter.js";
import { LimitSearch } from "../../../src/policy/search.js";
import { changingServices } from "../changingServices.js";
import { type Service, services } from "../services.js";
import { most, oracleOf, schemes } from "./schemes.js";
import { type Figures, simulate, simulateSecond } from "./simulate.js";

/** One scheme with one service. */
export interface Compared {
  readonly service: string;
  readonly scheme: string;
  /** Its time over the oracle's with the same seed. */
  readonly time: Spread;
  /** Requests over rows. */
  readonly requests: Spread;
  /** Its time over that of a fixed 16 with the same seed, the 95th percentile. */
  readonly overFixed: number;
  /** Seconds to the last response; the oracle's are those of its own. */
  readonly seconds: number;
  readonly oracleSeconds: number;
  /** The most rows that a run lost. */
  readonly lost: number;
}

export interface Spread {
  readonly median: number;
  readonly p95: number;
}

/** The services that a run goes through to its end. */
export const simulated: readonly Service[] = [...services, ...changingServices].filter(
  ({ isCancelled }) => !isCancelled,
);

const rows = 1000;
// The search was tuned with lower seeds: it is judged by runs that nobody looked at.
const firstSeed = 1001;

/** The runs of all schemes with one service. @param names Which schemes */
export function compare(
  service: Service,
  seeds: number,
  names: readonly string[] = Object.keys(schemes),
): readonly Compared[] {
  const numbers = Array.from({ length: seeds }, (_, seed) => firstSeed + seed);
  const oracle = numbers.map((seed) => simulate(service, oracleOf(service, seed), seed, rows));
  const runsOf = (scheme: string): readonly Figures[] => {
    const limiterOf = schemes[scheme];
    return limiterOf ? numbers.map((seed) => simulate(service, limiterOf, seed, rows)) : oracle;
  };
  const fixed = runsOf("fixed 16");
  return ["oracle", ...names].map((scheme) =>
    summary(service.name, scheme, scheme === "fixed 16" ? fixed : runsOf(scheme), { oracle, fixed }),
  );
}

/** A second run of a client, compared with one that knows nothing of the first. */
export interface Second {
  /** The median of its time over that of the other. */
  readonly time: number;
  /** The 95th percentiles, one over the other. */
  readonly timeP95: number;
  /** Its mean requests over those of the other. */
  readonly requests: number;
  /** The most rows that a run lost. */
  readonly lost: number;
}

/** Compares the second runs of a client. @param next The service of the second run, if it is another one by then */
export function compareSecond(service: Service, seeds: number, next: Service = service): Second {
  const runsOf = (knows: boolean): readonly Figures[] =>
    Array.from({ length: seeds }, (_, seed) => {
      let search: LimitSearch | undefined;
      const limiterOf = (): Limiter => {
        search = new LimitSearch(most, knows ? search?.learned : undefined);
        return new Limiter(search);
      };
      return simulateSecond(service, limiterOf, firstSeed + seed, next);
    });
  const [known, fresh] = [runsOf(true), runsOf(false)];
  const over = (of: (runs: readonly Figures[]) => number): number => rounded(of(known) / of(fresh));
  return {
    time: over((runs) => spread(runs.map(({ ms }) => ms)).median),
    timeP95: over((runs) => spread(runs.map(({ ms }) => ms)).p95),
    requests: over((runs) => runs.reduce((sum, { requests }) => sum + requests, 0)),
    lost: Math.max(...known.map(({ lost }) => lost)),
  };
}

function summary(
  service: string,
  scheme: string,
  runs: readonly Figures[],
  { oracle, fixed }: { readonly oracle: readonly Figures[]; readonly fixed: readonly Figures[] },
): Compared {
  const over = (of: readonly Figures[]): Spread =>
    spread(runs.map(({ ms }, index) => ms / (of[index] as Figures).ms));
  const seconds = (of: readonly Figures[]): number => rounded(spread(of.map(({ ms }) => ms / 1000)).median);
  return {
    service,
    scheme,
    time: over(oracle),
    overFixed: over(fixed).p95,
    requests: spread(runs.map(({ requests }) => requests / rows)),
    seconds: seconds(runs),
    oracleSeconds: seconds(oracle),
    lost: Math.max(...runs.map(({ lost }) => lost)),
  };
}

/** The median and the 95th percentile: the smallest value that 95 % do not exceed. */
export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] as number;
  return { median: rounded(at(0.5)), p95: rounded(at(0.95)) };
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
