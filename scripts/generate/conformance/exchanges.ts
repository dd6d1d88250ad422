// operations.json, and exchanges.json: what is special to an operation is written by hand; rows that hold for any operation get a cell for
// each other one here, from the table of operations.
import type {
  ExchangeRow,
  RetryRow as Row,
  RowExchange,
  RowExpected,
  RowResponse,
  RowStep,
} from "../../../src/conformance/data.js";
import type { OperationId } from "../../../src/generated/contract.js";
import { type Document, exampleOf, isSafe } from "../document.js";
import type { OperationShape } from "../operations.js";

/** A row, with the operations whose cells are made here. */
export interface MadeRow extends ExchangeRow {
  readonly generated?: readonly string[];
}

type Cell = RowExchange | undefined;
type Make = (shape: OperationShape, row: MadeRow) => Cell;

/** The rows with a cell for each operation that a row holds for, and that has none by hand. */
export function withOperations(
  rows: readonly MadeRow[],
  shapes: readonly OperationShape[],
): readonly MadeRow[] {
  const written = new Set(
    rows.flatMap(({ operations, generated = [] }) =>
      Object.keys(operations).filter((id) => !generated.includes(id)),
    ),
  );
  const others = shapes.filter(({ id }) => !written.has(id));
  return rows.map(({ generated = [], ...row }) => {
    const byHand = Object.entries(row.operations).filter(
      ([id]) => !generated.includes(id) && shapes.some((shape) => shape.id === id),
    );
    const kept = { ...row, operations: Object.fromEntries(byHand) };
    const made = others.flatMap((shape) => {
      const cell = makers[row.name]?.(shape, kept);
      return cell === undefined ? [] : [[shape.id, cell] as const];
    });
    if (made.length === 0) return kept;
    const operations = { ...kept.operations, ...Object.fromEntries(made) };
    return { ...kept, generated: made.map(([id]) => id), operations };
  });
}

const repeatable: Make = ({ operation }) => (isSafe(operation) ? {} : undefined);
const notRepeatable: Make = ({ operation }) => (isSafe(operation) ? undefined : {});

const makers: Readonly<Record<string, Make>> = {
  "own-connection": notRepeatable,
  "own-connection-not-repeatable": repeatable,
  "own-connection-after-421": repeatable,
  "lost-after-an-unclear-answer": repeatable,
  "unclear-answer-after-a-lost-one": repeatable,
  "retry-after-past-default-deadline": ({ timeoutMs }) =>
    timeoutMs > 60_000
      ? undefined
      : {
          sequence: [{ answer: { status: 429, headers: { "retry-after": `${timeoutMs / 1000}` } } }],
          expected: { retryAfterMs: timeoutMs },
        },
  "ids-with-every-character": withIds,
  "ids-that-lead-elsewhere": withIds,
  "text-of-all-planes": withTexts,
  "unknown-members": withJson(
    (body) => ({ ...body, newMember: { words: ["néw", { deep: [1, null, true] }], none: null } }),
    "/newMember",
  ),
  "non-ascii-answer": (shape) => {
    const text = jsonOf(shape, (body) => ({ ...body, newMember: "Qualité — 日本語 😀 שלום" }));
    if (text === undefined) return undefined;
    // One of its characters is escaped, the others stand as they are.
    const escaped = JSON.stringify(text).replace("日", "\\u65e5");
    return { answer: { status: statusOf(shape), text: escaped }, ...unknown("/newMember") };
  },
  nulls: withJson((body) => mapped(body, () => null)),
  "members-in-another-order": (shape) => {
    const body = jsonOf(shape, (each) => each);
    if (body === undefined || Object.keys(body).length < 2) return undefined;
    const text = JSON.stringify(Object.fromEntries(Object.entries(body).reverse()));
    return { answer: { status: statusOf(shape), text } };
  },
  "answer-of-1-mib": (shape) => {
    const response = largest(shape, 0);
    return response && { answer: response, ...unknown("/note") };
  },
  "answer-of-1-mib-and-one": (shape, row) => {
    const response = largest(shape, 1);
    const [{ expected } = {}] = Object.values(row.operations);
    return response && { sequence: [{ answer: response }], ...(expected && { expected }) };
  },
  "answer-in-gzip": withResponse({ gzip: true }),
  "answer-with-a-byte-order-mark": (shape) => {
    const body = jsonOf(shape, (each) => each);
    return body && { answer: { status: statusOf(shape), text: `\ufeff${JSON.stringify(body)}` } };
  },
  "answer-of-another-type": withResponse({ headers: { "Content-Type": "text/plain" } }),
  "answer-of-another-2xx": withResponse({ status: 203 }),
  "answer-with-more-behind": withResponse({
    after: 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n{"stolen":true}',
  }),
};

type Json = Readonly<Record<string, unknown>>;

function statusOf({ response }: OperationShape): number {
  return Number(response.status);
}

// The good response, changed; undefined of an operation whose response is no JSON object.
function jsonOf({ response }: OperationShape, change: (body: Json) => Json): Json | undefined {
  return response.kind === "json" ? change(response.example as Json) : undefined;
}

function withJson(change: (body: Json) => Json, ...pointers: readonly string[]): Make {
  return (shape) => {
    const body = jsonOf(shape, change);
    return body && { answer: { status: statusOf(shape), body }, ...unknown(...pointers) };
  };
}

function withResponse(how: Partial<RowResponse>): Make {
  return (shape) => {
    const body = jsonOf(shape, (each) => each);
    return body && { answer: { status: statusOf(shape), body, ...how } };
  };
}

// A client whose types have no place for them need not keep them.
function unknown(...pointers: readonly string[]): Pick<RowExchange, "comparedFor"> {
  return pointers.length > 0 ? { comparedFor: { "unknown-members": pointers } } : {};
}

function mapped(body: Json, change: () => unknown): Json {
  return Object.fromEntries(Object.keys(body).map((name) => [name, change()]));
}

const mebibyte = 2 ** 20;

function largest(shape: OperationShape, more: number): RowResponse | undefined {
  if (shape.maxResponseBytes !== mebibyte) return undefined;
  const body = jsonOf(shape, (each) => ({ ...each, note: "{repeat}" }));
  const rest = Buffer.byteLength(JSON.stringify({ ...body, note: "" }));
  return body && { status: statusOf(shape), body, repeat: { text: "x", bytes: mebibyte - rest + more } };
}

// The ids of a cell that is written by hand: that of the account, and one for all others.
function withIds({ path, parameters, rules }: OperationShape, row: MadeRow): Cell {
  const [sample] = Object.values(row.operations);
  const given = (sample?.arguments ?? {}) as Readonly<Record<string, string>>;
  const [, other = ""] = Object.entries(given).find(([name]) => name !== "account_id") ?? [];
  const names = parameters.path.map(({ name }) => name);
  // Ids that have rules of their own cannot be any text.
  if (rules.ids !== undefined || !names.some((name) => name !== "account_id")) return undefined;
  const ids = Object.fromEntries(names.map((name) => [name, given[name] ?? other]));
  const encoded = (text: string): string =>
    encodeURIComponent(text).replace(/[!'()*]/g, (it) => `%${it.charCodeAt(0).toString(16).toUpperCase()}`);
  return { arguments: ids, path: path.replace(/\{(\w+)\}/g, (_, name: string) => encoded(ids[name] ?? "")) };
}

const text = "über straße; cafe\u0301 & = + % # ? / \\ \" ' </script> 日本語 👩‍👩‍👧 ";

// Every argument of the query and every field of the body that may be any text.
function withTexts({ body, rules }: OperationShape): Cell {
  const textsIn = (group: object | undefined): Json => {
    const { properties = {} } = (group ?? {}) as { readonly properties?: Readonly<Record<string, Json>> };
    const isAny = (each: unknown): boolean => JSON.stringify(each) === '{"type":"string"}';
    const entries = Object.entries(properties).flatMap(([name, { items, ...own }]) =>
      isAny(own) ? [[name, text]] : own.type === "array" && isAny(items) ? [[name, [text, "2"]]] : [],
    );
    return Object.fromEntries(entries);
  };
  const [query, fields] = [textsIn(rules.query), textsIn(rules.body)];
  const isInBody = body?.file === undefined && Object.keys(fields).length > 0;
  if (!isInBody && Object.keys(query).length === 0) return undefined;
  return {
    arguments: { ...query, ...(isInBody && { body: { ...(body?.example as Json), ...fields } }) },
  };
}

/** A row of retries.json: what happens is written by hand, what comes of it is not. */
export interface RetryRow extends Omit<Row, "operations"> {
  /** Whether the waits of all its calls are judged together. */
  readonly jitter?: true;
  readonly operations: Readonly<Record<OperationId, Expected>>;
}

/** What comes of a row for one operation. */
export type Expected = RowExpected & { readonly attempts?: number };

/** What the nth request of a row meets, counted from 0: the last of a sequence meets all that follow. */
export function stepOf({ server }: Pick<RetryRow, "server">, index: number): RowStep {
  if (!("sequence" in server)) return server;
  const step = server.sequence[Math.min(index, server.sequence.length - 1)];
  if (step === undefined) throw new Error("A sequence has no step.");
  return step;
}

// operations.json: how each operation is asked for in the rows, and the good response to that, as the contract's examples
// have them.

/** What stands in operations.json below its revision: of each operation the first example of request and response. */
export function conformanceOperations(
  document: Document,
  shapes: readonly OperationShape[],
): Record<string, unknown> {
  const operations = shapes.map((shape) => {
    const { id, method, path, parameters, body, response, operation } = shape;
    const [query, headers] = [parameters.query, parameters.header].map((each) =>
      each.map(({ name }) => name),
    );
    const row = {
      method,
      path,
      ...(query?.length && { query }),
      ...(headers?.length && { headers }),
      ...(body && { contentType: body.contentType }),
      ...(body?.file !== undefined && { part: body.file }),
      repeatable: isSafe(operation),
      arguments: argumentsOf(document, shape),
      ...(response.status !== "200" && { status: Number(response.status) }),
      ...(response.kind !== "json" && response.contentType && { answerType: response.contentType }),
      ...(response.kind !== "none" && { answer: response.example }),
    };
    return [id, row] as const;
  });
  return { operations: Object.fromEntries(operations) };
}

// A file has the name that the response gives back.
function argumentsOf(document: Document, { parameters, body, response }: OperationShape): object {
  const { path, query, header } = parameters;
  const named = [...path, ...query, ...header].map((each) => {
    const { name, in: place } = each;
    const made = place === "path" ? `${name.replaceAll("_", "-")}-1` : undefined;
    return [name, exampleOf(document, each) ?? made] as const;
  });
  const sent = Object.fromEntries(named.filter(([, value]) => value !== undefined));
  if (body === undefined) return sent;
  if (body.file === undefined) return { ...sent, body: body.example };
  const content = (body.example as Readonly<Record<string, string>>)[body.file];
  const { filename = "file.txt" } = (response.example ?? {}) as { readonly filename?: string };
  return { ...sent, file: { name: filename, content } };
}
