// A cell is one row of the conformance data for one operation: the call that a client makes, the responses and faults
// that it meets, and the expected outcome.
import type {
  Coding,
  ConformanceData,
  ErrorRow,
  ExchangeRow,
  OperationData,
  Repeat,
  RetryRow,
  RowClient,
  RowExchange,
  RowExpected,
  RowResponse,
  RowStep,
} from "./data.js";
import { derivedCells } from "./derived.js";

export interface Expected extends RowExpected {
  readonly codeSource?: string;
  /** A text that the error's message must contain; null: the client writes its own message, with the HTTP status. */
  readonly message?: string | null;
}

export interface Cell {
  readonly id: string;
  readonly description: string;
  readonly operation: string;
  readonly asked: OperationData;
  /**
   * What the server does with each request: the first step is for the first request, the last for all further requests.
   */
  readonly steps: readonly Step[];
  readonly client: RowClient;
  readonly needs: readonly string[];
  readonly expected: Expected;
  /** The expected path, byte by byte; without it, the operation's path filled with the arguments. */
  readonly path?: string | undefined;
  /** The path that follows the host in the client's base URL. */
  readonly basePath?: string | undefined;
  readonly large?: true | undefined;
  /** How the client reaches the service, if not by its address. */
  readonly via?: Via;
  readonly connections?: true | undefined;
  readonly comparedFor?: RowExchange["comparedFor"];
}

/** A proxy, behind which the service has the name service.invalid. */
export interface Via {
  readonly scheme: "http" | "https";
  /** The response to a request for a tunnel: a status, or none at all. @default the tunnel is opened */
  readonly refusal?: number | "none";
  /** Whether the proxy wants the name and the password that its URL has. */
  readonly credentials?: true;
  /** NO_PROXY, if the environment names the proxy; `unused` if it excepts the service. */
  readonly environment?: { readonly except: string; readonly unused?: true };
}

export function cellsOf(data: ConformanceData): readonly Cell[] {
  const asked = Object.entries(data.operations);
  const stored = storedCells(data, asked);
  return [...derivedCells(stored), ...stored];
}

function storedCells(data: ConformanceData, asked: readonly Asked[]): readonly Cell[] {
  // The rows of errors.json use one operation only. It is not idempotent, so that no client retries it.
  const once = asked.filter(([, { repeatable }]) => !repeatable).slice(0, 1);
  return [
    // The rows of exchanges.json come first: some of them take long, and a client can work on the others in the
    // meantime.
    ...data.exchanges.flatMap((row) => asked.flatMap((operation) => exchangeCells(row, operation))),
    ...data.retries.flatMap((row) => asked.flatMap((operation) => retryCells(row, operation))),
    ...unique(once.flatMap((operation) => data.errors.map((row) => errorCell(row, operation)))),
  ];
}

type Asked = readonly [operation: string, asked: OperationData];

function retryCells(row: RetryRow, [operation, asked]: Asked): readonly Cell[] {
  const { event, description, server, client = {}, needs = [], codeSource, message } = row;
  const expected = row.operations[operation];
  if (expected === undefined) return [];
  const steps = "sequence" in server ? server.sequence : [server];
  const cell = {
    id: `retries/${event}/${operation}`,
    description,
    operation,
    asked,
    steps: stepsOf(steps, asked),
    client,
    needs: asked.part === undefined ? needs : [...needs, "upload"],
    expected: expected.value
      ? expected
      : { ...expected, ...(codeSource && { codeSource }), ...(message !== undefined && { message }) },
  };
  return [cell];
}

function exchangeCells(row: ExchangeRow, [operation, known]: Asked): readonly Cell[] {
  const own = row.operations[operation];
  if (own === undefined) return [];
  const { name, description, client = {}, needs = [], connections, basePath, large } = row;
  const { answer, path, comparedFor, repeats, sequence = [{ success: true as const }] } = { ...row, ...own };
  const asked = { ...known, arguments: withRepeats({ ...known.arguments, ...own.arguments }, repeats) };
  const cell = {
    id: `exchanges/${name}/${operation}`,
    description,
    operation,
    asked,
    steps: stepsOf(sequence, asked, answer),
    client,
    needs: asked.part === undefined ? needs : [...needs, "upload"],
    expected: { requests: 1, ...row.expected, ...own.expected },
    path,
    basePath,
    large,
    connections,
    comparedFor,
  };
  return [{ ...cell, expected: cell.expected.code ? cell.expected : { ...cell.expected, value: true } }];
}

function withRepeats(given: OperationData["arguments"], repeats: ExchangeRow["repeats"] = {}) {
  const made = structuredClone(given);
  for (const [pointer, repeat] of Object.entries(repeats)) {
    const names = pointer.slice(1).split("/");
    const last = names.pop() ?? "";
    const parent = names.reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], made);
    (parent as Record<string, unknown>)[last] = repeatOf(repeat);
  }
  return made;
}

function repeatOf(repeat: Repeat): string | readonly string[] {
  if ("text" in repeat) return repeat.text.repeat(repeat.times);
  return Array.from({ length: repeat.times }, (_, n) => repeat.items.replaceAll("{n}", `${n}`));
}

// HTTP libraries hide these statuses or retry after them on their own, so a client may skip their rows.
const hiddenStatuses: ReadonlySet<number> = new Set([407, 421]);

function errorCell(row: ErrorRow, [operation, asked]: Asked): Cell {
  const { name, status, headers, body = "", bodyBase64, code, inferred, codeSource, message } = row;
  return {
    id: `errors/${slugOf(name)}`,
    description: name,
    operation,
    asked,
    steps: [{ response: { status, headers, body: bodyBase64 ? Buffer.from(bodyBase64, "base64") : body } }],
    client: { maxRetries: 0 },
    needs: hiddenStatuses.has(status) ? [`status-${status}`] : [],
    expected: { requests: 1, code, inferred, codeSource, message },
  };
}

// Makes the ids unique: the names of two rows may differ only in upper and lower case, which ids do not keep.
function unique(cells: readonly Cell[]): readonly Cell[] {
  const counts = new Map<string, number>();
  return cells.map((cell) => {
    const count = (counts.get(cell.id) ?? 0) + 1;
    counts.set(cell.id, count);
    return count === 1 ? cell : { ...cell, id: `${cell.id}-${count}` };
  });
}

function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replace(/'s\b/g, "s")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
}

export interface CellResponse extends Pick<RowResponse, "gzip" | "chunked" | "after"> {
  readonly status: number;
  readonly headers: NonNullable<RowResponse["headers"]>;
  readonly coding?: Coding;
  /** How the exchange goes, of the ways in serve/sendResponse.ts and serve/serveCell.ts. @default in one piece */
  readonly manner?: string;
  /** In a string, `{apiKey}` is replaced by the API keys of the row. */
  readonly body: string | Uint8Array;
}

export type Step = { readonly response: CellResponse } | { readonly network: string };

// Returns what the server does at each request: step n is for request n, and the last step also for all later requests.
// If `good` is given, the server sends it in place of the operation's usual successful response.
function stepsOf(
  steps: readonly RowStep[],
  asked: OperationData,
  good?: Partial<RowResponse>,
): readonly Step[] {
  return steps.flatMap((step) => Array.from({ length: step.times ?? 1 }, () => stepOf(step, asked, good)));
}

function stepOf(step: RowStep, asked: OperationData, good?: Partial<RowResponse>): Step {
  if ("success" in step) return { response: goodCellResponse(asked, good) };
  return "answer" in step ? { response: responseOf(step.answer) } : step;
}

function goodCellResponse(asked: OperationData, good: Partial<RowResponse> = {}): CellResponse {
  const { status, headers, ...sent } = good;
  if (status !== undefined) return responseOf({ ...good, status });
  const usual = usualCellResponse(asked);
  return { ...usual, ...sent, headers: { ...usual.headers, ...headers } } as CellResponse;
}

function usualCellResponse({ status = 200, answerType, answer }: OperationData): CellResponse {
  if (answer === undefined) return { status, headers: {}, body: "" };
  if (typeof answer !== "string") return responseOf({ status, body: answer });
  return responseOf({ status, headers: { "content-type": answerType ?? "text/plain" }, text: answer });
}

function responseOf({ status, headers = {}, body, text, repeat, ...sent }: RowResponse): CellResponse {
  const plain = text ?? (body === undefined ? "" : JSON.stringify(body));
  const hasType = Object.keys(headers).some((name) => name.toLowerCase() === "content-type");
  return {
    ...sent,
    status,
    headers: { ...(!hasType && { "content-type": "application/json" }), ...headers },
    body: repeat ? plain.replace("{repeat}", repeated(repeat)) : plain,
  };
}

function repeated({ text, bytes }: NonNullable<RowResponse["repeat"]>): string {
  return text.repeat(bytes / Buffer.byteLength(text));
}
