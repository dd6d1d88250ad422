import type { Socket } from "node:net";
import type { ClientOptions } from "../../../src/index.js";
import { turns } from "../turns.js";
import type { Outcomes } from "./outcomes.js";

/** Where a faulty service is, and what it has seen. */
export interface Place {
  readonly options: ClientOptions & { readonly baseUrl: string };
  /** Requests whose headers came. */
  requests: number;
  /** Connections open now. */
  readonly sockets: ReadonlySet<Socket>;
  /** Connections to the other origin that redirects name. */
  readonly strayed: number;
  /** Resolves once neither it nor a client that came after these has anything to do. */
  quiet(before: ReadonlySet<Socket>): Promise<void>;
  /** Reads on where it had stopped: only so it learns that the other side has gone. */
  readOn(): void;
  close(): Promise<void>;
}

/** A place where no request ever arrives. */
export function nowhere(options: Place["options"], close: () => Promise<void> = async () => {}): Place {
  return {
    options,
    requests: 0,
    sockets: new Set(),
    strayed: 0,
    quiet: () => turns(),
    readOn: () => {},
    close,
  };
}

/** One way for a service to misbehave, and what must come of a call of each operation. */
export interface Fault {
  readonly name: string;
  readonly start: () => Promise<Place>;
  readonly outcomes: Outcomes;
  /** What becomes of it over Node's fetch, where that cannot be the same. */
  readonly overFetch?: {
    readonly outcomes?: Outcomes;
    /** Outcomes that are as right. */
    readonly or?: Outcomes;
    readonly client?: ClientOptions;
  };
  /** Options of the client. A fault with times of its own happens on a clock of the test's. */
  readonly client?: ClientOptions;
  /** The size of what rerank and upload send. @default a few bytes */
  readonly bodyBytes?: number;
  /** Has a good call come first, whose connection the faulty one can use; what to wait for between the two. */
  readonly afterGoodCall?: (place: Place) => Promise<unknown>;
  /** Takes so much memory or time that few may run at once. */
  readonly heavy?: boolean;
}

/** Thrown where a fault cannot be had on this machine. */
export class CannotHappenHere extends Error {}
