// operations.json: how each operation is asked for in the rows, and its good answer.
import type { Document } from "../document.js";
import { isSafe, operationsOf } from "../document.js";

/** operations.json: the arguments are written by hand, the rest is the contract's. */
export interface Operations {
  readonly operations: Readonly<Record<string, { readonly arguments: unknown }>>;
}

interface Answered {
  readonly content: { readonly "application/json": { readonly examples: Readonly<Record<string, Example>> } };
}

interface Example {
  readonly value?: unknown;
  readonly $ref?: string;
}

/** The same with what the contract says of each operation, its first example as the answer. */
export function withContract(data: Operations, document: Document): Operations {
  const operations = operationsOf(document).map(({ method, path, operation }) => {
    const known = data.operations[operation.operationId];
    if (known === undefined) throw new Error(`operations.json has no ${operation.operationId}.`);
    const [contentType] = Object.keys(operation.requestBody.content);
    const answer = answerOf(operation.responses["200"] as Answered, document);
    return [
      operation.operationId,
      {
        method,
        path,
        contentType,
        repeatable: isSafe(operation),
        arguments: known.arguments,
        answer,
      },
    ] as const;
  });
  return { ...data, operations: Object.fromEntries(operations) };
}

function answerOf({ content }: Answered, document: Document): unknown {
  const [example] = Object.values(content["application/json"].examples);
  const name = example?.$ref?.split("/").pop();
  const found = name === undefined ? example : (document.components.examples?.[name] as Example);
  if (found?.value === undefined) throw new Error("An operation's answer has no example.");
  return found.value;
}
