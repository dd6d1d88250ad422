import { readFile } from "node:fs/promises";
import { parse } from "yaml";
import type { RetryKind } from "../../scripts/generate/document.js";
import { type OperationShape, shapesOf } from "../../scripts/generate/operations.js";

/** A schema of the contract, as far as the docs read it. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly readOnly?: boolean;
  readonly deprecated?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly pattern?: string;
  readonly "x-max-bytes"?: number;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly allOf?: readonly Schema[];
  readonly default?: unknown;
  readonly "x-unstated"?: string;
  readonly "x-enumDescriptions"?: Readonly<Record<string, string>>;
}

export type Example = { readonly summary?: string; readonly value: unknown };

interface Content {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, Example>>;
}

/** A response of an operation, or its body. */
export interface OperationResponse {
  readonly $ref?: string;
  readonly description?: string;
  readonly headers?: Readonly<Record<string, Parameter>>;
  readonly content?: Readonly<Record<string, Content>>;
  readonly "x-unstated"?: string;
}

/** A parameter of an operation, or a header of a response. */
export interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly "x-unstated"?: string;
}

/** An operation as the generators read it, with what is told of it. */
export interface Operation extends OperationShape {
  readonly told: {
    readonly tags: readonly string[];
    readonly summary: string;
    readonly description: string;
    readonly "x-retry": RetryKind;
    readonly "x-unstated"?: string;
    readonly requestBody?: OperationResponse;
    readonly responses: Readonly<Record<string, OperationResponse>>;
  };
}

interface Marked {
  readonly description?: string;
  readonly "x-unstated"?: string;
}

/** The contract, as far as the docs read it. */
export class Contract {
  readonly document: object;
  readonly version: string;
  readonly revision: string;
  readonly description: string;
  readonly unstated: string;
  readonly servers: readonly Marked[];
  readonly tags: readonly (Marked & { readonly name: string })[];
  readonly bearer: Marked;
  readonly operations: readonly Operation[];
  readonly schemas: Readonly<Record<string, Schema>>;
  /** The codes by their names. */
  readonly codes: Readonly<Record<string, string>>;
  readonly #responses: Readonly<Record<string, OperationResponse>>;

  constructor(text: string) {
    const document = parse(text);
    this.document = document;
    this.version = document.info.version;
    this.revision = document.info["x-contract-revision"];
    this.description = document.info.description;
    this.unstated = document.info["x-unstated"];
    this.servers = document.servers;
    this.tags = document.tags;
    this.bearer = document.components.securitySchemes.bearerAuth;
    this.operations = shapesOf(document, text).map((shape) => ({
      ...shape,
      told: shape.operation as unknown as Operation["told"],
    }));
    this.codes = document.components.schemas.Code["x-enumDescriptions"];
    this.schemas = document.components.schemas;
    this.#responses = document.components.responses;
  }

  static async read(): Promise<Contract> {
    return new Contract(await readFile(new URL("../../openapi.yaml", import.meta.url), "utf8"));
  }

  /** What a reference points to; anything else is itself. */
  resolve<T extends { readonly $ref?: string }>(value: { readonly $ref?: string }): T {
    const steps = value.$ref?.slice(2).split("/") ?? [];
    const found = steps.reduce<unknown>(
      (node, step) => (node as Record<string, unknown>)[step],
      this.document,
    );
    return (value.$ref === undefined ? value : found) as T;
  }

  /** The contract's example of an error response with this code. */
  errorExample(code: string): unknown {
    for (const { content = {} } of Object.values(this.#responses)) {
      for (const { examples = {} } of Object.values(content)) {
        if (examples[code] !== undefined) return examples[code].value;
      }
    }
    return undefined;
  }
}
