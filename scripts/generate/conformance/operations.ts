// operations.json: how each operation is asked for in the rows, and its good answer.
import type { Document } from "../document.js";
import { isSafe } from "../document.js";
import { exampleOf, type OperationShape } from "../operations.js";

/** operations.json: the arguments may be written by hand, the rest is the contract's. */
export interface Operations {
  readonly operations: Readonly<Record<string, { readonly arguments: unknown }>>;
}

/** The same with what the contract says of each operation, its first example as the answer. */
export function withContract(
  data: Operations,
  document: Document,
  shapes: readonly OperationShape[],
): Operations {
  const operations = shapes.map((shape) => {
    const { id, method, path, parameters, body, answer, operation } = shape;
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
      arguments: data.operations[id]?.arguments ?? argumentsOf(document, shape),
      ...(answer.status !== "200" && { status: Number(answer.status) }),
      ...(answer.kind !== "json" && answer.contentType && { answerType: answer.contentType }),
      ...(answer.kind !== "none" && { answer: answer.example }),
    };
    return [id, row] as const;
  });
  return { ...data, operations: Object.fromEntries(operations) };
}

// What a row asks for where nobody wrote it: the examples of the contract.
function argumentsOf(document: Document, { parameters, body }: OperationShape): object {
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
  return { ...sent, file: { name: "file.txt", content } };
}
