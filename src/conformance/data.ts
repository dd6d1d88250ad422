// Types and reader of the conformance data in contract/conformance, which the package ships.
import { readFile } from "node:fs/promises";

/** A content coding that a client may announce in `Accept-Encoding`. */
export type Coding = "deflate" | "br" | "zstd";

/** A response, in the format of retries.json and exchanges.json. */
export interface RowResponse {
  readonly status: number;
  /** A list of values is sent as several header lines. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: unknown;
  readonly text?: string;
  /** Replaces `{repeat}` in the body or the text: `text`, repeated up to `bytes` bytes. */
  readonly repeat?: { readonly text: string; readonly bytes: number };
  readonly gzip?: true;
  /** Send the response in this coding if the request announces it, otherwise as it is. */
  readonly coding?: Coding;
  /** Send the response with chunked encoding, with chunk extensions. */
  readonly chunked?: true;
  /** Bytes that the server sends after the response on the same connection. */
  readonly after?: string;
}

/** What the server does with the next `times` requests (1 by default): a response, a network fault, or success. */
export type RowStep = { readonly times?: number } & (
  | { readonly answer: RowResponse }
  | { readonly network: string }
  | { readonly success: true }
);

/** The expected outcome of a conformance row. contract/conformance/README.md describes the fields. */
export interface RowExpected {
  readonly requests: number;
  /** @default the requests of the last call */
  readonly attempts?: number | "any";
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
  readonly alike?: WaitsAlike;
  /** Limits for the milliseconds from handing out the row to the client until its outcome arrives. */
  readonly tookMs?: { readonly min: number; readonly max: number };
  /** Whether the client may reject the arguments instead, with `INVALID_ARGUMENT` and no request. */
  readonly orRefused?: true;
}

/** Limits for the waits before the nth retry, over all calls of a row. */
export interface WaitBounds {
  readonly retry: number;
  readonly minMeanMs: number;
  readonly maxMeanMs: number;
  readonly minSpreadMs: number;
  readonly maxLeastMs: number;
  /** How much longer, on average, the waits before this retry must be than the waits before the previous retry. */
  readonly minGrowthMs?: number;
}

/** How many waits of two programs may be alike. The nth wait of one is compared with the nth wait of the other. */
export interface WaitsAlike {
  /** Two waits are alike if they differ by at most so many milliseconds. */
  readonly withinMs: number;
  /** How many pairs may be alike by chance. */
  readonly atMost: number;
}

/** The options of the client or the call that a conformance row sets; all others have their defaults. */
export interface RowClient {
  readonly maxRetries?: number;
  readonly repeatable?: boolean;
  readonly apiKey?: "function";
  readonly timeoutMs?: number;
  readonly attemptTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
  readonly abort?: "before" | "received" | "answering" | "waiting";
  readonly calls?: number;
  /** The number of clients that make the calls in turn, each with its own key. */
  readonly clients?: number;
  /** The number of calls made at the same time; `{n}` in a call's arguments and response is its number, from 1. */
  readonly parallel?: number;
  readonly newClientPerCall?: true;
  /** The number of programs that make the calls, one after another; each is started anew. */
  readonly programs?: number;
}

/** A row of retries.json: an event, such as a status or a network fault, and what the client must do after it. */
export interface RetryRow {
  readonly event: string;
  readonly description: string;
  readonly server: RowStep | { readonly sequence: readonly RowStep[] };
  readonly client?: RowClient;
  readonly needs?: readonly string[];
  readonly codeSource?: string;
  readonly message?: string;
  /** The expected outcome by operation id. Operations that the row does not concern are absent. */
  readonly operations: Readonly<Record<string, RowExpected>>;
}

/** A row of errors.json: an error response, and the error that the client must make from it. */
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

/** A text repeated `times` times; or a list of `times` texts, in which `{n}` is the position in the list, from 0. */
export type Repeat = { readonly times: number } & ({ readonly text: string } | { readonly items: string });

/** The arguments, the responses and the expected outcome of one operation in a row of exchanges.json. */
export interface RowExchange {
  /** Arguments that replace those of the same name in operations.json. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** The arguments that are made by repeating a piece, by JSON pointer. */
  readonly repeats?: Readonly<Record<string, Repeat>>;
  /** The expected path, byte by byte. */
  readonly path?: string;
  /** The successful response; without a status, only its differences from that of operations.json. */
  readonly answer?: Partial<RowResponse>;
  /** What the server does with the requests, in turn. @default it sends the successful response */
  readonly sequence?: readonly RowStep[];
  /** The expected outcome. @default one request, and the value of the successful response */
  readonly expected?: Partial<RowExpected>;
  /** For each capability, JSON pointers to members of the response that are compared only if the client has it. */
  readonly comparedFor?: Readonly<Record<string, readonly string[]>>;
}

/** A row of exchanges.json. A field of the row applies to each operation, unless the operation overrides the field. */
export interface ExchangeRow extends RowExchange {
  readonly name: string;
  readonly description: string;
  readonly client?: RowClient;
  readonly needs?: readonly string[];
  /** A path that follows the host in the client's base URL. */
  readonly basePath?: string;
  /** Whether the row is served only with `--large`. */
  readonly large?: true;
  /** Whether the runner checks which connections the requests use. */
  readonly connections?: true;
  readonly operations: Readonly<Record<string, RowExchange>>;
}

/** An operation of operations.json: its request, example arguments and successful response. */
export interface OperationData {
  readonly method: string;
  readonly path: string;
  /** `query` names the arguments that are sent in the query, `headers` those that are sent as headers. */
  readonly query?: readonly string[];
  readonly headers?: readonly string[];
  /** The content type of the request; absent if the request has no body. */
  readonly contentType?: string;
  /** The name of the form part that holds the file, for an upload. */
  readonly part?: string;
  readonly repeatable: boolean;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The status of the successful response. @default 200 */
  readonly status?: number;
  /** The media type of the successful response, if it is not JSON. */
  readonly answerType?: string;
  /** The body of the successful response; absent if the response has no body. */
  readonly answer?: Readonly<Record<string, unknown>> | string;
}

/** All files of the conformance data. */
export interface ConformanceData {
  readonly revision: string;
  readonly retries: readonly RetryRow[];
  readonly errors: readonly ErrorRow[];
  readonly exchanges: readonly ExchangeRow[];
  readonly operations: Readonly<Record<string, OperationData>>;
}

/** Reads the conformance data that this package ships. */
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
  // The relative path is the same from src/conformance and from dist/cli.
  const file = new URL(`../../contract/conformance/${name}.json`, import.meta.url);
  return JSON.parse(await readFile(file, "utf8")) as T;
}
