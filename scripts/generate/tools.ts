import { firstOf } from "./descriptions.js";
import { type Document, nameOf, type RetryKind, resolve, type Schema } from "./document.js";
import type { OperationShape } from "./operations.js";

// All four are written: a client takes a missing `destructiveHint` for true.
const hints: Readonly<Record<RetryKind, object>> = {
  read: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  set: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  start: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  append: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
};

// Of a schema with many fields, only these: every client gives the whole list of tools to its model.
const shortened: Readonly<Record<string, readonly string[]>> = {
  ReinforcementFineTuningJob: ["name", "state", "status", "jobProgress"],
  JobProgress: ["percent"],
};

/** Writes each operation as a tool of the Model Context Protocol. */
export function generateTools(document: Document, operations: readonly OperationShape[]): string {
  const rows = operations.map((shape) => `  ${shape.id}: ${JSON.stringify(toolOf(document, shape))},\n`);
  return (
    `import type { OperationId } from "./contract.js";\n\n` +
    "/** An operation as a tool of the Model Context Protocol, without its name. */\n" +
    "export interface OperationTool {\n" +
    "  readonly title: string;\n  readonly description: string;\n" +
    "  readonly annotations: Readonly<Record<string, boolean>>;\n" +
    "  readonly inputSchema: {\n    readonly type: string;\n    readonly properties: Readonly<Record<string, object>>;\n" +
    "    readonly required: readonly string[];\n    readonly additionalProperties: boolean | object;\n  };\n" +
    "  /** Of a response that is a JSON object. */\n  readonly outputSchema?: object;\n}\n\n" +
    "/** Each operation as a tool. */\n" +
    `export const tools: Readonly<Record<OperationId, OperationTool>> = {\n${rows.join("")}};\n`
  );
}

function toolOf(document: Document, { operation, kind, parameters, body, response }: OperationShape): object {
  const { summary: title, description, "x-when-unknown": whenUnknown } = operation;
  const placed = [...parameters.path, ...parameters.query, ...parameters.header];
  const given = placed.filter(({ name }) => name !== "account_id");
  const fields = given.map(({ name, schema, description = "" }) => [
    name,
    { ...inlined(document, schema, words), description: firstOf(description) },
  ]);
  const sent: Inlined = body ? inlined(document, body.schema, words) : {};
  const file = body?.file && { [body.file]: { type: "string", description: "Its path below --root." } };
  const required = given.filter((each) => each.required).map(({ name }) => name);
  const asks = kind === "read" ? "" : "A person is asked before it is sent.";
  const unknown = whenUnknown && `If \`executed\` is unknown: ${whenUnknown}`;
  return {
    title,
    description: [firstOf(description), asks, unknown].filter(Boolean).join(" "),
    annotations: hints[kind],
    inputSchema: {
      type: "object",
      properties: { ...Object.fromEntries(fields), ...sent.properties, ...file },
      required: [...required, ...(body?.required ? (sent.required ?? []) : [])],
      // An unknown argument is a model's mistake, except in a body of any fields.
      additionalProperties: (sent.properties === undefined && sent.additionalProperties) || false,
    },
    outputSchema: response.schema && { ...inlined(document, response.schema, []), type: "object" },
  };
}

type Inlined = Pick<Schema, "additionalProperties" | "properties" | "required">;

const words = "type enum pattern minimum maximum exclusiveMinimum exclusiveMaximum minItems required".split(
  " ",
);

/**
 * A schema with all that it refers to in its place.
 * @param kept The words that are kept; none for a response, in which every field may be missing, null or new
 */
function inlined(document: Document, schema: Schema, kept: string[], around: string[] = []): Inlined {
  const name = nameOf(schema) ?? "";
  const whole = { ...resolve(document, schema), ...schema };
  const { description, properties = {}, items, oneOf, additionalProperties: more, "x-open": isOpen } = whole;
  if (around.includes(name)) return {};
  const inner = (part: Schema): object => inlined(document, part, kept, name ? [...around, name] : around);
  const shown = Object.entries(properties).filter(
    ([field]) => kept.length > 0 || (shortened[name]?.includes(field) ?? true),
  );
  return {
    ...Object.fromEntries(
      Object.entries(whole).filter(([word]) => kept.includes(word) && !(word === "enum" && isOpen)),
    ),
    ...(description && { description: firstOf(description) }),
    ...(shown.length > 0 && {
      properties: Object.fromEntries(shown.map(([field, part]) => [field, inner(part)])),
    }),
    ...(items && { items: inner(items) }),
    ...(kept.length > 0 && oneOf && { oneOf: oneOf.map(inner) }),
    ...(kept.length > 0 && more && { additionalProperties: typeof more === "object" ? inner(more) : more }),
  };
}
