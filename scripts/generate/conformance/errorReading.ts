// How an error body is read, asked of the code that reads it: in which order its fields count.
import { readErrorBody } from "../../../src/call/errorResponse.js";

const asIs = (text: string): string => text;

interface Field {
  readonly name: string;
  readonly put: (body: Record<string, unknown>, value: string) => void;
}

const within =
  (name: string): Field["put"] =>
  (body, value) => {
    const { error } = body;
    body.error = { ...(typeof error === "object" ? error : {}), [name]: value };
  };
const atRoot =
  (name: string): Field["put"] =>
  (body, value) => {
    body[name] = value;
  };

const codeFields: readonly Field[] = [
  { name: "code", put: atRoot("code") },
  { name: "error.code", put: within("code") },
  { name: "error.status", put: within("status") },
];

const messageFields: readonly Field[] = [
  { name: "title", put: atRoot("title") },
  { name: "detail", put: atRoot("detail") },
  { name: "Message", put: atRoot("Message") },
  { name: "message", put: atRoot("message") },
  { name: "error.message", put: within("message") },
];

const codes = ["ABORTED", "NOT_FOUND", "DATA_LOSS"];

/** The fields that may name a code, the one that counts first at the beginning. */
export function codeOrder(): readonly string[] {
  const values = new Map(codeFields.map((field, index) => [field, codes[index] ?? ""] as const));
  return ordered(
    codeFields,
    (field) => values.get(field) ?? "",
    (body) => readErrorBody(body, 500, asIs).code,
  );
}

/** The fields that may hold the message, in the same order. */
export function messageOrder(): readonly string[] {
  return ordered(
    messageFields,
    ({ name }) => name,
    (body) => readErrorBody(body, 500, asIs).message,
  );
}

function ordered(
  fields: readonly Field[],
  textOf: (field: Field) => string,
  read: (body: string) => string | undefined,
): readonly string[] {
  const left = new Set(fields);
  const order: string[] = [];
  while (left.size > 0) {
    const body = {};
    for (const field of left) field.put(body, textOf(field));
    const found = read(JSON.stringify(body));
    const winner = [...left].find((field) => textOf(field) === found);
    if (winner === undefined) throw new Error(`None of ${[...left].map(({ name }) => name)} is read.`);
    order.push(winner.name);
    left.delete(winner);
  }
  return order;
}
