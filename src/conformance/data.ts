// Types and reader of the conformance data in contract/conformance, which the package ships. Its README.md describes all
// members.
import { readFile } from "node:fs/promises";

/** A content coding that a client may announce in `Accept-Encoding`. */
export type Coding = "deflate" | "br";

/** A response, in the format of retries.json and exchanges.json. */
export interface RowResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: unknown;
  readonly text?: string;
  readonly repeat?: { readonly text: string; readonly bytes: number };
  readonly gzip?: true;
  readonly coding?: Coding;
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
  extends Readonly<Partial<Record<"code" | "executed" | "executedBecause" | "notRetried", string>>>,
    Readonly<
      Partial<Record<"retryAfterMs" | "minWaitMs" | "maxWaitMs" | "minTotalWaitMs" | "minSpreadMs", number>>
    > {
  readonly requests: number;
  /** @default the requests of the last call */
  readonly attempts?: number | "any";
  readonly requestsByCall?: readonly number[];
  readonly value?: true;
  readonly inferred?: boolean;
  readonly waits?: readonly WaitBounds[];
  readonly alike?: Readonly<Record<"withinMs" | "atMost", number>>;
  readonly tookMs?: Readonly<Record<"min" | "max", number>>;
  readonly orRefused?: true;
}

/** Limits for the waits before the nth retry, over all calls of a row. */
export interface WaitBounds
  extends Readonly<Record<"retry" | "minMeanMs" | "maxMeanMs" | "minSpreadMs" | "maxLeastMs", number>> {
  readonly minGrowthMs?: number;
}

type ClientNumber = "maxRetries" | "timeoutMs" | "attemptTimeoutMs" | "connectTimeoutMs" | "calls";

/** The options of the client or the call that a conformance row sets; all others have their defaults. */
export interface RowClient extends Readonly<Partial<Record<ClientNumber, number>>> {
  readonly repeatable?: boolean;
  readonly apiKey?: "function";
  readonly abort?: "before" | "received" | "answering" | "waiting";
  readonly clients?: number;
  readonly parallel?: number;
  readonly newClientPerCall?: true;
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
export interface ErrorRow extends Readonly<Record<"name" | "code" | "codeSource", string>> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly bodyBase64?: string;
  readonly inferred: boolean;
  readonly message: string | null;
}

/** A text repeated `times` times; or a list of `times` texts, in which `{n}` is the position in the list, from 0. */
export type Repeat = { readonly times: number } & ({ readonly text: string } | { readonly items: string });

/** The arguments, the responses and the expected outcome of one operation in a row of exchanges.json. */
export interface RowExchange {
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly repeats?: Readonly<Record<string, Repeat>>;
  readonly path?: string;
  /** The successful response; without a status, only its differences from that of operations.json. */
  readonly answer?: Partial<RowResponse>;
  /** What the server does with the requests, in turn. @default it sends the successful response */
  readonly sequence?: readonly RowStep[];
  /** The expected outcome. @default one request, and the value of the successful response */
  readonly expected?: Partial<RowExpected>;
  readonly comparedFor?: Readonly<Record<string, readonly string[]>>;
}

/** A row of exchanges.json. A field of the row applies to each operation, unless the operation overrides the field. */
export interface ExchangeRow extends RowExchange {
  readonly name: string;
  readonly description: string;
  readonly client?: RowClient;
  readonly needs?: readonly string[];
  readonly basePath?: string;
  readonly large?: true;
  readonly connections?: true;
  readonly operations: Readonly<Record<string, RowExchange>>;
}

/** An operation of operations.json: its request, example arguments and successful response. */
export interface OperationData {
  readonly method: string;
  readonly path: string;
  readonly query?: readonly string[];
  readonly headers?: readonly string[];
  /** The content type of the request; absent if the request has no body. */
  readonly contentType?: string;
  readonly part?: string;
  readonly repeatable: boolean;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The status of the successful response. @default 200 */
  readonly status?: number;
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
  const names = ["retries", "errors", "exchanges", "operations"];
  // The relative path is the same from src/conformance and from dist/cli.
  const files = names.map((name) => new URL(`../../contract/conformance/${name}.json`, import.meta.url));
  const read = await Promise.all(files.map(async (file) => JSON.parse(await readFile(file, "utf8"))));
  const [retries, errors, exchanges, { operations }] = read;
  const revision: string = retries["x-contract-revision"];
  return { revision, retries: retries.rows, errors: errors.rows, exchanges: exchanges.rows, operations };
}
