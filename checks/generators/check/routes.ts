import { readFile } from "node:fs/promises";

/** One operation of the contract, and the first example of each answer that the recording mock gives. */
export interface Route {
  readonly method: string;
  /** Matches a path as it is sent. */
  readonly path: RegExp;
  readonly answer: unknown;
  readonly notFound: unknown;
}

interface Answer {
  readonly $ref?: string;
  readonly content?: Readonly<
    Record<string, { readonly examples: Readonly<Record<string, { value: unknown }>> }>
  >;
}

interface Contract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { responses: Record<string, Answer> }>>>>;
  readonly components: { readonly responses: Readonly<Record<string, Answer>> };
}

/** Reads the operations of a document in JSON. */
export async function readRoutes(document: string): Promise<Route[]> {
  const contract: Contract = JSON.parse(await readFile(document, "utf8"));
  return Object.entries(contract.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { responses }]) => ({
      method: method.toUpperCase(),
      path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
      answer: firstExample(contract, responses["200"]),
      notFound: firstExample(contract, responses["404"]),
    })),
  );
}

function firstExample({ components }: Contract, answer: Answer | undefined): unknown {
  const named = answer?.$ref?.split("/").at(-1);
  const { content } = (named === undefined ? answer : components.responses[named]) ?? {};
  const [example] = Object.values(content?.["application/json"]?.examples ?? {});
  if (example === undefined) throw new Error("An answer of the contract has no example.");
  return example.value;
}
