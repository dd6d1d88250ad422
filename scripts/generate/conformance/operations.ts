// operations.json: how each operation is asked for in the rows, and its good answer.
import type { Document } from "../document.js";
import { isSafe } from "../document.js";
import type { OperationShape } from "../operations.js";
import { component } from "../reading.js";

/** operations.json: the arguments are written by hand, the rest is the contract's. */
export interface Operations {
  readonly operations: Readonly<Record<string, { readonly arguments: unknown }>>;
}

interface Media {
  readonly content?: Readonly<Record<string, { readonly examples?: Readonly<Record<string, Example>> }>>;
}

interface Example {
  readonly value?: unknown;
  readonly $ref?: string;
}

/** The same with what the contract says of each operation, its first example as the answer. */
export function withContract(
  data: Operations,
  document: Document,
  shapes: readonly OperationShape[],
): Operations {
  const operations = shapes.map((shape) => {
    const { id, method, path, body, answer, operation } = shape;
    const answered = exampleOf(component(document, operation.responses[answer.status] as object), document);
    const row = {
      method,
      path,
      ...(body && { contentType: body.contentType }),
      repeatable: isSafe(operation),
      arguments: data.operations[id]?.arguments ?? argumentsOf(document, shape),
      ...(answer.status !== "200" && { status: Number(answer.status) }),
      ...(answer.kind !== "json" && answer.contentType && { answerType: answer.contentType }),
      ...(answer.kind !== "none" && { answer: answered }),
    };
    return [id, row] as const;
  });
  return { ...data, operations: Object.fromEntries(operations) };
}

// What a row asks for where nobody wrote it: the examples of the contract.
function argumentsOf(document: Document, { parameters, body, operation }: OperationShape): object {
  const named = [...parameters.path, ...parameters.query, ...parameters.header].map(
    ({ name, in: place, example, examples = {} }) => {
      const [first] = Object.values(examples);
      const value =
        example ?? first?.value ?? (place === "path" ? `${name.replaceAll("_", "-")}-1` : undefined);
      return [name, value] as const;
    },
  );
  const sent = operation.requestBody && exampleOf(component(document, operation.requestBody), document);
  const file = body?.file === undefined ? undefined : (sent as Record<string, string>)[body.file];
  return {
    ...Object.fromEntries(named.filter(([, value]) => value !== undefined)),
    ...(file !== undefined ? { file: { name: "file.txt", content: file } } : body && { body: sent }),
  };
}

function exampleOf({ content = {} }: Media, document: Document): unknown {
  const [media] = Object.values(content);
  if (media === undefined) return undefined;
  const [example] = Object.values(media.examples ?? {});
  const found = example && component<Example>(document, example);
  if (found?.value === undefined) throw new Error("A body of the contract has no example.");
  return found.value;
}
