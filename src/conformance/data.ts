// Types and reader of the conformance data in contract/conformance, which the package ships. Its README.md describes all
// members.
import { readFile } from "node:fs/promises";

type Texts<Name extends string> = Readonly<Record<Name, string>>;
type Numbers<Name extends string> = Readonly<Record<Name, number>>;

/** A response, in the format of retries.json and exchanges.json. */
export interface RowResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: unknown;
  readonly text?: string;
  readonly repeat?: { readonly text: string; readonly bytes: number };
  readonly gzip?: true;
  readonly coding?: "deflate" | "br";
  readonly after?: string;
}

/** What the server does with the next `times` requests (1 by default): a response, a network fault, or success. */
export type RowStep = { readonly times?: number } & (
  | { readonly answer: RowResponse }
  | { readonly network: string }
  | { readonly success: true }
);

/** The expected outcome of a conformance row. */
export interface RowExpected
  extends Partial<Texts<"code" | "executed" | "executedBecause" | "notRetried" | "codeSource">>,
    Partial<Numbers<"retryAfterMs" | "minWaitMs" | "maxWaitMs" | "minTotalWaitMs" | "minSpreadMs">> {
  readonly requests: number;
  /** @default the requests of the last call */
  readonly attempts?: number | "any";
  readonly requestsByCall?: readonly number[];
  readonly value?: true;
  readonly inferred?: boolean;
  /** A text that the error's message must contain; null: the client writes its own message, with the HTTP status. */
  readonly message?: string | null;
  readonly waits?: readonly WaitBounds[];
  readonly alike?: Numbers<"withinMs" | "atMost">;
  readonly tookMs?: Numbers<"min" | "max">;
  readonly orRefused?: true;
}

/** Limits for the waits before the nth retry, over all calls of a row. */
export type WaitBounds = Numbers<"retry" | "maxMeanMs"> &
  Partial<Numbers<"minMeanMs" | "minSpreadMs" | "maxLeastMs" | "minMostMs">>;

/** The options of the client or the call that a conformance row sets; all others have their defaults. */
export interface RowClient
  extends Partial<Numbers<"maxRetries" | "timeoutMs" | "attemptTimeoutMs" | "connectTimeoutMs" | "calls">>,
    Partial<Numbers<"clients" | "parallel" | "programs">> {
  readonly repeatable?: boolean;
  readonly apiKey?: "function";
  readonly abort?: "before" | "received" | "answering" | "waiting";
  readonly newClientPerCall?: true;
}

interface Row {
  readonly description: string;
  readonly client?: RowClient;
  readonly needs?: readonly string[];
}

/** A row of retries.json: an event, such as a status or a network fault, and what the client must do after it. */
export interface RetryRow extends Row {
  readonly event: string;
  readonly server: RowStep | { readonly sequence: readonly RowStep[] };
  readonly codeSource?: string;
  readonly message?: string;
  /** Whether the row is served for one operation only, the first idempotent one with a body: it says the same of each. */
  readonly once?: true;
  readonly operations: Readonly<Record<string, RowExpected>>;
}

/** A row of errors.json: an error response, and the error that the client must make from it. */
export interface ErrorRow extends Texts<"name" | "code" | "codeSource"> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly bodyBase64?: string;
  readonly inferred: boolean;
  readonly message: string | null;
}

/** A text repeated `times` times; or a list of `times` texts, in which `{n}` is the position in the list, from 0. */
export type Repeat = Numbers<"times"> & (Texts<"text"> | Texts<"items">);

/** The arguments, the responses and the expected outcome of one operation in a row of exchanges.json. */
export interface RowExchange {
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly repeats?: Readonly<Record<string, Repeat>>;
  readonly path?: string;
  readonly answer?: Partial<RowResponse>;
  readonly sequence?: readonly RowStep[];
  readonly expected?: Partial<RowExpected>;
  readonly comparedFor?: Readonly<Record<string, readonly string[]>>;
}

/** A row of exchanges.json. A field of the row applies to each operation, unless the operation overrides the field. */
export interface ExchangeRow extends Row, RowExchange {
  readonly name: string;
  readonly basePath?: string;
  readonly large?: true;
  readonly connections?: true;
  readonly operations: Readonly<Record<string, RowExchange>>;
}

/** An operation of operations.json: its request, example arguments and successful response. */
export interface OperationData extends Texts<"method" | "path"> {
  readonly query?: readonly string[];
  readonly headers?: readonly string[];
  readonly contentType?: string;
  readonly part?: string;
  readonly repeatable: boolean;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly status?: number;
  readonly answerType?: string;
  readonly answer?: Readonly<Record<string, unknown>> | string;
}

/** All files of the conformance data. */
export interface ConformanceData extends Texts<"revision"> {
  readonly retries: readonly RetryRow[];
  readonly errors: readonly ErrorRow[];
  readonly exchanges: readonly ExchangeRow[];
  readonly operations: Readonly<Record<string, OperationData>>;
}

/** Reads the conformance data that this package ships. */
export async function readData(): Promise<ConformanceData> {
  // The relative path is the same from src/conformance and from dist/cli.
  const read = async (name: string) =>
    JSON.parse(await readFile(new URL(`../../contract/conformance/${name}.json`, import.meta.url), "utf8"));
  const files = await Promise.all(["retries", "errors", "exchanges", "operations"].map(read));
  const [{ "x-contract-revision": revision, ...retries }, errors, exchanges, { operations }] = files;
  return { revision, retries: retries.rows, errors: errors.rows, exchanges: exchanges.rows, operations };
}
