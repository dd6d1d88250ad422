// operations.json: how each operation is asked for in the rows, and the good answer to that, as the contract's examples
// have them.
import { type Document, type Operation, operationsOf } from "../document.js";

interface Example {
  readonly value?: unknown;
  readonly $ref?: string;
}

interface Content {
  readonly [contentType: string]: { readonly examples: Readonly<Record<string, Example>> };
}

interface Parameter {
  readonly name: string;
  readonly example: string;
}

/** What stands in operations.json below its revision: of each operation the first example of request and answer. */
export function conformanceOperations(document: Document): Record<string, unknown> {
  const operations = operationsOf(document).map(({ method, path, operation }) => {
    const [contentType = ""] = Object.keys(operation.requestBody.content);
    const answer = exampleOf((operation.responses["200"] as { content: Content }).content, document);
    const { operationId, "x-retry-safe": repeatable } = operation;
    const given = argumentsOf(operation, answer, document);
    return [operationId, { method, path, contentType, repeatable, arguments: given, answer }] as const;
  });
  return { operations: Object.fromEntries(operations) };
}

// A file has the name that the answer gives back.
function argumentsOf(operation: Operation, answer: object, document: Document): Record<string, unknown> {
  const given = (operation.parameters ?? []).map((parameter) => {
    const { name, example } = found<Parameter>(parameter, document);
    return [name, example] as const;
  });
  const body = exampleOf(operation.requestBody.content as unknown as Content, document);
  const { filename } = answer as { readonly filename?: string };
  const sent = "file" in body ? { file: { name: filename, content: body.file } } : { body };
  return { ...Object.fromEntries(given), ...sent };
}

function exampleOf(content: Content, document: Document): object {
  const [example] = Object.values(Object.values(content)[0]?.examples ?? {});
  const value = example && found<Example>(example, document).value;
  if (typeof value !== "object" || value === null) throw new Error("An operation has no example.");
  return value;
}

function found<T>(part: { readonly $ref?: string }, { components }: Document): T {
  const [, , kind = "", name = ""] = part.$ref?.split("/") ?? [];
  return (part.$ref === undefined ? part : components[kind]?.[name]) as T;
}
