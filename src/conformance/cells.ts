// Makes the cells of the conformance data: each row for each operation.
import type { Cell, CellResponse, Step } from "./cell.js";
import type {
  ConformanceData,
  ErrorRow,
  ExchangeRow,
  OperationData,
  Repeat,
  RetryRow,
  RowResponse,
  RowStep,
} from "./data.js";
import { derivedCells } from "./derived.js";

export type { Cell } from "./cell.js";

type Asked = readonly [operation: string, asked: OperationData];

/** Every row, for each operation that it concerns. */
export function cellsOf(data: ConformanceData): readonly Cell[] {
  const asked = Object.entries(data.operations);
  // The rows of errors.json use one operation only. It is not idempotent, so that no client retries it.
  const once = asked.filter(([, { repeatable }]) => !repeatable).slice(0, 1);
  const stored = [
    ...data.exchanges.flatMap((row) => asked.flatMap((operation) => exchangeCells(row, operation))),
    ...data.retries.flatMap((row) => asked.flatMap((operation) => retryCells(row, operation))),
    ...unique(once.flatMap((operation) => data.errors.map((row) => errorCell(row, operation)))),
  ];
  // The rows that take long come first, so that a client can work on the others in the meantime.
  return [...derivedCells(stored), ...stored];
}

function retryCells(row: RetryRow, [operation, asked]: Asked): readonly Cell[] {
  const { event, description, server, client = {}, needs = [], codeSource, message } = row;
  const expected = row.operations[operation];
  if (expected === undefined) return [];
  const told = { ...(codeSource && { codeSource }), ...(message !== undefined && { message }) };
  const cell = {
    id: `retries/${event}/${operation}`,
    ...{ description, operation, asked, client },
    steps: stepsOf("sequence" in server ? server.sequence : [server], asked),
    needs: asked.part === undefined ? needs : [...needs, "upload"],
    expected: { ...expected, ...(!expected.value && told) },
  };
  return [cell];
}

function exchangeCells(row: ExchangeRow, [operation, known]: Asked): readonly Cell[] {
  const own = row.operations[operation];
  if (own === undefined) return [];
  const { name, description, client = {}, needs = [], connections, basePath, large } = row;
  const { answer, path, comparedFor, repeats, sequence = [{ success: true as const }] } = { ...row, ...own };
  const asked = { ...known, arguments: withRepeats({ ...known.arguments, ...own.arguments }, repeats) };
  const expected = { requests: 1, ...row.expected, ...own.expected };
  const cell = {
    id: `exchanges/${name}/${operation}`,
    ...{ description, operation, asked, client, path, basePath, large, connections, comparedFor },
    steps: stepsOf(sequence, asked, answer),
    needs: asked.part === undefined ? needs : [...needs, "upload"],
    expected: expected.code ? expected : { ...expected, value: true as const },
  };
  return [cell];
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
  const { status = 200, answerType = "text/plain", answer } = asked;
  if (good.status !== undefined) return responseOf({ ...good, status: good.status });
  const isText = typeof answer === "string";
  const headers = { ...(isText && { "content-type": answerType }), ...good.headers };
  const usual = isText ? { text: answer } : { body: answer };
  if (answer === undefined) return { status, ...good, headers, body: "" } as CellResponse;
  return responseOf({ ...usual, ...good, status, headers });
}

function responseOf({ status, headers = {}, body, text, repeat, ...sent }: RowResponse): CellResponse {
  const plain = text ?? (body === undefined ? "" : JSON.stringify(body));
  const hasType = Object.keys(headers).some((name) => name.toLowerCase() === "content-type");
  const { text: piece, bytes } = repeat ?? { text: " ", bytes: 0 };
  return {
    ...sent,
    status,
    headers: { ...(!hasType && { "content-type": "application/json" }), ...headers },
    body: plain.replace("{repeat}", piece.repeat(bytes / Buffer.byteLength(piece))),
  };
}
