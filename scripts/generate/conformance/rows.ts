import type { OperationId } from "../../../src/generated/contract.js";

/** What one request meets. */
export type Step =
  | { readonly answer: RowAnswer }
  | { readonly network: string }
  /** The operation's good answer, as operations.json has it. */
  | { readonly success: true };

/** An answer as the data writes it. */
export interface RowAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly text?: string;
}

/** What the client of a row is made or called with, where that is not the default. */
export interface RowClient {
  readonly maxRetries?: number;
  readonly repeatable?: boolean;
  readonly apiKey?: "function";
  readonly timeoutMs?: number;
  readonly attemptTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
  readonly abort?: "before" | "received" | "answering";
  /** So many calls one after another, with one client. */
  readonly calls?: number;
}

/** A row of retries.json: what happens is written by hand, what comes of it is not. */
export interface RetryRow {
  readonly event: string;
  readonly description: string;
  readonly server: Step | { readonly sequence: readonly Step[] };
  readonly client?: RowClient;
  readonly message?: string;
  /** Whether the waits of all its calls are judged together. */
  readonly jitter?: true;
  readonly needs?: readonly string[];
  readonly codeSource?: string;
  readonly operations: Readonly<Record<OperationId, Expected>>;
}

/** What comes of a row for one operation. */
export interface Expected {
  readonly requests: number;
  readonly attempts?: number;
  readonly requestsByCall?: readonly number[];
  readonly value?: true;
  readonly code?: string;
  readonly executed?: string;
  readonly executedBecause?: string;
  readonly inferred?: boolean;
  readonly notRetried?: string;
  readonly retryAfterMs?: number;
  readonly minWaitMs?: number;
  readonly maxWaitMs?: number;
  readonly minTotalWaitMs?: number;
  readonly minSpreadMs?: number;
}

/** What the nth request of a row meets, counted from 0: the last of a sequence meets all that follow. */
export function stepOf({ server }: Pick<RetryRow, "server">, index: number): Step {
  if (!("sequence" in server)) return server;
  const step = server.sequence[Math.min(index, server.sequence.length - 1)];
  if (step === undefined) throw new Error("A sequence has no step.");
  return step;
}
