/** One figure of a scenario held against its bound. */
export interface Bound {
  readonly value: number;
  readonly atMost?: number;
  readonly exactly?: number;
  readonly reached: boolean;
}

/** One scenario as measured with one Node. */
export interface Scenario {
  readonly title: string;
  readonly unit: string;
  readonly rounds: number;
  readonly date: string;
  /** Hash of the src/call and src/transport that it was measured with. */
  readonly sources?: string;
  readonly machine: string;
  readonly medians: Readonly<Record<string, number>>;
  readonly bounds: Readonly<Record<string, Bound>>;
  /** The lowest and the highest sample of each contestant. */
  readonly spread?: Readonly<Record<string, readonly [lowest: number, highest: number]>>;
  /** The same as measured before on other processors. */
  readonly elsewhere?: readonly Scenario[];
}

/** The processor of the machine that a scenario was measured on. */
export function processorOf(scenario: Pick<Scenario, "machine">): string;

/** What was measured with one Node. */
export interface Results {
  readonly node: string;
  readonly versions: Readonly<Record<string, string>>;
  /** The contestants and the names they are shown with. */
  readonly labels: Readonly<Record<string, string>>;
  readonly scenarios: Readonly<Record<string, Scenario>>;
}

/** By the major version of Node, the oldest first. */
export function readResults(): Readonly<Record<string, Results>>;

/** Whether src/call or src/transport changed since a scenario was measured. */
export function isOlder(scenario: Scenario | undefined): boolean;
