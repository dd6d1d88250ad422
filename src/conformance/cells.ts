// Makes the cells of the conformance data: each row for each operation.
import { type Cell, type CellResponse, placeOf, type Step } from "./cell.js";
import type {
  ConformanceData,
  ErrorRow,
  ExchangeRow,
  OperationData,
  RetryRow,
  RowResponse,
  RowStep,
} from "./data.js";
import { derivedCells } from "./derived.js";

type Asked = readonly [operation: string, asked: OperationData];

/** Every row, for each operation that it concerns. */
export function cellsOf(data: ConformanceData): readonly Cell[] {
  const asked = Object.entries(data.operations);
  // The rows of errors.json use one operation only. It is not idempotent, so that no client retries it.
  const once = asked.filter(([, { repeatable }]) => !repeatable).slice(0, 1);
  const repeated = asked.filter(([, { repeatable, contentType }]) => repeatable && contentType).slice(0, 1);
  const slugs = data.errors.map(({ name }) => slugOf(name));
  const stored = [
    ...data.exchanges.flatMap((row) => asked.flatMap((each) => exchangeCells("exchanges", row, each))),
    ...data.retries.flatMap((row) =>
      (row.once ? repeated : asked).flatMap((each) => exchangeCells("retries", asExchange(row), each)),
    ),
    ...once.flatMap((operation) =>
      data.errors.map((row, index) => {
        // Two names may differ only in upper and lower case, which ids do not keep.
        const nth = slugs.slice(0, index + 1).filter((slug) => slug === slugs[index]).length;
        return errorCell(row, `${slugs[index]}${nth > 1 ? `-${nth}` : ""}`, operation);
      }),
    ),
  ];
  // The rows that take long come first, so that a client can work on the others in the meantime.
  return [...derivedCells(stored), ...stored];
}

// A row of retries.json in the form of those of exchanges.json, which says of each operation what it expects.
function asExchange({ event, server, codeSource, message, operations, ...row }: RetryRow): ExchangeRow {
  const told = { ...(codeSource && { codeSource }), ...(message !== undefined && { message }) };
  const expected = Object.entries(operations).map(
    ([operation, own]) => [operation, { expected: { ...own, ...(!own.value && told) } }] as const,
  );
  const sequence = "sequence" in server ? server.sequence : [server];
  return { ...row, name: event, sequence, operations: Object.fromEntries(expected) };
}

function exchangeCells(file: string, row: ExchangeRow, [operation, known]: Asked): readonly Cell[] {
  const own = row.operations[operation];
  if (own === undefined) return [];
  const { name, description, client = {}, needs = [], connections, basePath, large } = row;
  const { answer, path, comparedFor, repeats, sequence = [{ success: true as const }] } = { ...row, ...own };
  const asked = { ...known, arguments: withRepeats({ ...known.arguments, ...own.arguments }, repeats) };
  const expected = { requests: 1, ...row.expected, ...own.expected };
  const cell = {
    id: `${file}/${name}/${operation}`,
    ...{ description, operation, asked, client, path, basePath, large, connections, comparedFor },
    steps: sequence.flatMap((step) => Array(step.times ?? 1).fill(stepOf(step, asked, answer))),
    needs: asked.part === undefined ? needs : [...needs, "upload"],
    expected: expected.code ? expected : { ...expected, value: true as const },
  };
  return [cell];
}

function withRepeats(given: OperationData["arguments"], repeats: ExchangeRow["repeats"] = {}) {
  const made = structuredClone(given);
  for (const [pointer, repeat] of Object.entries(repeats)) {
    const [parent, name] = placeOf(made, pointer);
    const items = (text: string) =>
      Array.from({ length: repeat.times }, (_, n) => text.replaceAll("{n}", `${n}`));
    if (parent) parent[name] = "text" in repeat ? repeat.text.repeat(repeat.times) : items(repeat.items);
  }
  return made;
}

function errorCell(row: ErrorRow, slug: string, [operation, asked]: Asked): Cell {
  const { name, status, headers, body = "", bodyBase64, code, inferred, codeSource, message } = row;
  return {
    id: `errors/${slug}`,
    description: name,
    operation,
    asked,
    steps: [{ response: { status, headers, body: bodyBase64 ? Buffer.from(bodyBase64, "base64") : body } }],
    client: { maxRetries: 0 },
    // HTTP libraries hide these statuses or retry after them on their own, so a client may skip their rows.
    needs: status === 407 || status === 421 ? [`status-${status}`] : [],
    expected: { requests: 1, code, inferred, codeSource, message },
  };
}

function slugOf(name: string): string {
  const letters = name.toLowerCase().replace(/'s\b/g, "s");
  return letters.replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
}

// What the server does in a step. If `good` is given, it is sent in place of the operation's usual successful response.
function stepOf(step: RowStep, asked: OperationData, good?: Partial<RowResponse>): Step {
  if ("success" in step) return { response: goodResponse(asked, good) };
  return "answer" in step ? { response: responseOf(step.answer) } : step;
}

function goodResponse(asked: OperationData, good: Partial<RowResponse> = {}): CellResponse {
  const { status = 200, answerType = "text/plain", answer } = asked;
  const isText = typeof answer === "string";
  // A response with a status of its own is whole.
  const usual = good.status !== undefined ? {} : isText ? { text: answer } : { body: answer };
  return responseOf({ status, ...usual, ...good }, answer === undefined ? "" : isText ? answerType : json);
}

const json = "application/json";

function responseOf(response: RowResponse, type = json): CellResponse {
  const { status, headers = {}, body, text, repeat, ...sent } = response;
  const plain = text ?? (body === undefined ? "" : JSON.stringify(body));
  const hasType = Object.keys(headers).some((name) => name.toLowerCase() === "content-type");
  const { text: piece, bytes } = repeat ?? { text: " ", bytes: 0 };
  return {
    ...sent,
    status,
    headers: { ...(type && !hasType && { "content-type": type }), ...headers },
    body: plain.replace("{repeat}", piece.repeat(bytes / Buffer.byteLength(piece))),
  };
}
