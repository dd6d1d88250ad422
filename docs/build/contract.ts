import { readFile } from "node:fs/promises";
import { parse } from "yaml";

/** A schema of the contract, as far as the docs read it. */
export interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly allOf?: readonly Schema[];
  readonly default?: unknown;
  readonly "x-unstated"?: string;
  readonly "x-enumDescriptions"?: Readonly<Record<string, string>>;
}

type Example = { readonly value: unknown };

interface Response {
  readonly content?: Readonly<Record<string, { readonly examples?: Readonly<Record<string, Example>> }>>;
}

/** The contract, as far as the docs read it. */
export class Contract {
  readonly document: object;
  readonly version: string;
  readonly revision: string;
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly #responses: Readonly<Record<string, Response>>;

  constructor(text: string) {
    const document = parse(text);
    this.document = document;
    this.version = document.info.version;
    this.revision = document.info["x-contract-revision"];
    this.schemas = document.components.schemas;
    this.#responses = document.components.responses;
  }

  static async read(): Promise<Contract> {
    return new Contract(await readFile(new URL("../../openapi.yaml", import.meta.url), "utf8"));
  }

  /** The contract's example of an error answer with this code. */
  errorExample(code: string): unknown {
    for (const { content = {} } of Object.values(this.#responses)) {
      for (const { examples = {} } of Object.values(content)) {
        if (examples[code] !== undefined) return examples[code].value;
      }
    }
    return undefined;
  }
}
