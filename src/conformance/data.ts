// The conformance data as the package ships it.
import { readFile } from "node:fs/promises";

/** An answer as retries.json writes it. */
export interface RowAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly text?: string;
  /** What `{repeat}` stands for in the body or the text: a text over and over, up to so many bytes. */
  readonly repeat?: { readonly text: string; readonly bytes: number };
  readonly gzip?: true;
  /** Sent in chunks that have extensions. */
  readonly chunked?: true;
  /** What comes after the answer on the same connection. */
  readonly after?: string;
}

/** What one request meets, or several. */
export type RowStep = { readonly times?: number } & (
  | { readonly answer: RowAnswer }
  | { readonly network: string }
  | { readonly success: true }
);

/** What must come of a call. */
export interface RowExpected {
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
  readonly waits?: readonly WaitBounds[];
  /** From when the row is given to when its outcome is posted. */
  readonly tookMs?: { readonly min: number; readonly max: number };
  /** Whether the client may refuse the arguments, too. */
  readonly orRefused?: true;
}

/** What holds of the waits before the nth retry of all calls of a row. */
export interface WaitBounds {
  readonly retry: number;
  readonly minMeanMs: number;
  readonly maxMeanMs: number;
  readonly minSpreadMs: number;
  readonly maxLeastMs: number;
  /** Against the waits before the retry before. */
  readonly minGrowthMs?: number;
}

/** Options of the client or the call that are not the default. */
export interface RowClient {
  readonly maxRetries?: number;
  readonly repeatable?: boolean;
  readonly apiKey?: "function";
  readonly timeoutMs?: number;
  readonly attemptTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
  readonly abort?: "before" | "received" | "answering";
  readonly calls?: number;
  readonly newClientPerCall?: true;
}

/** A row of retries.json. */
export interface RetryRow {
  readonly event: string;
  readonly description: string;
  readonly server: RowStep | { readonly sequence: readonly RowStep[] };
  readonly client?: RowClient;
  readonly needs?: readonly string[];
  readonly codeSource?: string;
  readonly message?: string;
  /** By the operation's id; without those that it does not concern. */
  readonly operations: Readonly<Record<string, RowExpected>>;
}

/** A row of errors.json. */
export interface ErrorRow {
  readonly name: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly bodyBase64?: string;
  readonly code: string;
  readonly inferred: boolean;
  readonly codeSource: string;
  readonly message: string | null;
}

/** What an operation meets in a row of exchanges.json, and what is asked of it. */
export interface RowExchange {
  /** Those that differ from operations.json. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** The path that is due, byte by byte. */
  readonly path?: string;
  /** The good answer; that of operations.json where absent. */
  readonly answer?: RowAnswer;
  /** What the requests meet; the good answer where absent. */
  readonly sequence?: readonly RowStep[];
  /** One request, and the value of the good answer, where absent. */
  readonly expected?: Partial<RowExpected>;
  /** By capability: the members of the answer that are compared only if the client has it, as JSON pointers. */
  readonly comparedFor?: Readonly<Record<string, readonly string[]>>;
}

/** A row of exchanges.json: its fields hold for each of its operations that has none of its own. */
export interface ExchangeRow extends RowExchange {
  readonly name: string;
  readonly description: string;
  readonly client?: RowClient;
  readonly needs?: readonly string[];
  /** Whether connections are looked at. */
  readonly connections?: true;
  readonly operations: Readonly<Record<string, RowExchange>>;
}

/** An operation of operations.json. */
export interface OperationData {
  readonly method: string;
  readonly path: string;
  /** The arguments that stand in the query, and those that are headers. */
  readonly query?: readonly string[];
  readonly headers?: readonly string[];
  /** Absent where the request has no body. */
  readonly contentType?: string;
  /** The name of the part that holds the file. */
  readonly part?: string;
  readonly repeatable: boolean;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** 200 unless given. */
  readonly status?: number;
  /** The media type of the good answer, where it is not JSON. */
  readonly answerType?: string;
  /** Absent where the good answer has no body. */
  readonly answer?: Readonly<Record<string, unknown>> | string;
}

/** All of it. */
export interface ConformanceData {
  readonly revision: string;
  readonly retries: readonly RetryRow[];
  readonly errors: readonly ErrorRow[];
  readonly exchanges: readonly ExchangeRow[];
  readonly operations: Readonly<Record<string, OperationData>>;
}

/** Reads the data of this package. */
export async function readData(): Promise<ConformanceData> {
  const [retries, errors, exchanges, { operations }] = await Promise.all([
    read<{ "x-contract-revision": string; rows: readonly RetryRow[] }>("retries"),
    read<{ rows: readonly ErrorRow[] }>("errors"),
    read<{ rows: readonly ExchangeRow[] }>("exchanges"),
    read<{ operations: ConformanceData["operations"] }>("operations"),
  ]);
  const revision = retries["x-contract-revision"];
  return { revision, retries: retries.rows, errors: errors.rows, exchanges: exchanges.rows, operations };
}

async function read<T>(name: string): Promise<T> {
  // At the same place below src/conformance and below dist/cli.
  const file = new URL(`../../contract/conformance/${name}.json`, import.meta.url);
  return JSON.parse(await readFile(file, "utf8")) as T;
}
