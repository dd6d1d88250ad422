import type { Json, JsonObject } from "./json.js";
import { mapValues } from "./walk.js";

// Every schema keyword that means the same in OpenAPI 3.0.
const kept = new Set(
  (
    "title type format description default enum example readOnly writeOnly deprecated required pattern not " +
    "allOf anyOf oneOf items properties additionalProperties minimum maximum multipleOf minLength maxLength " +
    "minItems maxItems uniqueItems minProperties maxProperties externalDocs discriminator"
  ).split(" "),
);
const bounds = { exclusiveMinimum: "minimum", exclusiveMaximum: "maximum" } as const;

/** The same contract in the words of OpenAPI 3.0.3. Throws at what 3.0 cannot say, rather than lose it. */
export function toOpenApi30(document: JsonObject): JsonObject {
  const { info, components } = document as { info: JsonObject; components: JsonObject };
  for (const [owner, keyword] of [
    [document, "webhooks"],
    [document, "jsonSchemaDialect"],
    [info, "summary"],
    [info.license as JsonObject, "identifier"],
    [components, "pathItems"],
  ] as const) {
    if (owner[keyword] !== undefined) refuse(keyword, "the document");
  }
  return { ...(convertOutside(document, "#") as JsonObject), openapi: "3.0.3" };
}

// Outside of schemas the two versions differ in nothing that lint lets in, but for what may stand beside a $ref.
function convertOutside(node: Json, at: string): Json {
  if (Array.isArray(node)) return node.map((item, position) => convertOutside(item, `${at}/${position}`));
  if (typeof node !== "object" || node === null) return node;
  if (typeof node.$ref === "string" && Object.keys(node).length > 1) refuse("a description beside $ref", at);
  return mapValues(node, (value, key) => {
    const below = `${at}/${key}`;
    // What holds values rather than keywords is taken over as it is.
    if (/^(x-.*|examples?)$/.test(key)) return value;
    if (below === "#/components/schemas") return mapSchemas(value as JsonObject, below);
    return key === "schema" ? convertSchema(value, below) : convertOutside(value, below);
  });
}

function convertSchema(schema: Json, at: string): Json {
  if (typeof schema === "boolean") return schema;
  const { $ref, ...beside } = schema as JsonObject;
  if ($ref !== undefined && Object.keys(beside).length === 0) return { $ref };
  // OpenAPI 3.0 ignores what stands beside a $ref.
  const keywords = $ref === undefined ? beside : { allOf: [{ $ref }], ...beside };
  return withBooleanBounds(mapValues(keywords, (value, key) => convertKeyword(key, value, `${at}/${key}`)));
}

function convertKeyword(key: string, value: Json, at: string): Json {
  if (key.startsWith("x-") || key in bounds) return value;
  if (!kept.has(key)) refuse(key, at);
  if (key === "type" && typeof value !== "string") refuse("a list of types", at);
  if (key === "properties") return mapSchemas(value as JsonObject, at);
  if (Array.isArray(value) && /^(allOf|anyOf|oneOf)$/.test(key)) {
    return value.map((member, position) => convertSchema(member, `${at}/${position}`));
  }
  return /^(items|not|additionalProperties)$/.test(key) ? convertSchema(value, at) : value;
}

// A number in 3.1; in 3.0 a mark on the inclusive bound. Of two bounds the narrower one counts.
function withBooleanBounds(schema: JsonObject): JsonObject {
  const converted = { ...schema };
  for (const [exclusive, inclusive] of Object.entries(bounds)) {
    const bound = schema[exclusive];
    if (typeof bound !== "number") continue;
    delete converted[exclusive];
    const other = schema[inclusive];
    const isNarrower =
      typeof other !== "number" || (inclusive === "minimum" ? bound >= other : bound <= other);
    if (isNarrower) Object.assign(converted, { [inclusive]: bound, [exclusive]: true });
  }
  return converted;
}

function mapSchemas(schemas: JsonObject, at: string): JsonObject {
  return mapValues(schemas, (schema, name) => convertSchema(schema, `${at}/${name}`));
}

function refuse(what: string, at: string): never {
  throw new Error(`OpenAPI 3.0 cannot say ${what}, found at ${at}.`);
}
