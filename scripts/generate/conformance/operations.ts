// operations.json: how each operation is asked for in the rows, and the good response to that, as the contract's examples
// have them.
import { type Document, isSafe } from "../document.js";
import type { OperationShape } from "../operations.js";
import { exampleOf } from "../reading.js";

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
