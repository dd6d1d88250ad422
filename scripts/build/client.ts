import type { Json, JsonObject } from "./json.js";
import { isObject, mapObjects, mapValues, namesReached } from "./walk.js";

// Any body at all: a proxy's page, a text, nothing.
const anyBody: JsonObject = { "*/*": { schema: {} } };

/** The form that clients are generated from: what is sent is as strict as ever, a response may be newer. */
export function toClient(strict: JsonObject): JsonObject {
  const document = gatherUnstated(strict);
  const components = document.components as JsonObject;
  const paths = mapItems(document.paths as JsonObject, (operation) => ({
    ...withoutOwnEncoding(operation),
    responses: withoutDefault(operation.responses as JsonObject),
  }));
  const responses = mapValues(components.responses as JsonObject, (response) => ({
    ...(response as JsonObject),
    content: anyBody,
  }));
  const schemas = openSchemas(paths, components);
  return prune(
    withInlineTexts({ ...document, paths, components: { ...components, responses, schemas } }, schemas),
  );
}

// Generators for C++ make a class of each named schema, but not of a text: a named text stands where it is used.
function withInlineTexts(document: JsonObject, schemas: JsonObject): JsonObject {
  const isText = (schema: Json | undefined): schema is JsonObject =>
    isObject(schema) && schema.type === "string" && schema.enum === undefined;
  return mapObjects(document, (object) => {
    const { $ref, allOf, ...own } = object;
    const [only, ...more] = (allOf ?? []) as JsonObject[];
    const text = $ref === undefined ? only : schemas[`${$ref}`.split("/").pop() ?? ""];
    if (!isText(text) || more.length > 0) return object;
    // Of its description, what follows the first paragraph: the known values and the default.
    const [first, ...known] = `${text.description ?? ""}`.split("\n\n");
    const description = [own.description ?? first, ...known].join("\n\n");
    return { ...text, ...own, ...(description !== "" && { description }) };
  }) as JsonObject;
}

// What is not stated is for people: inside of schemas, tools hand it to language models with every call. By place in
// the strict form, so that what this form leaves out is told too.
function gatherUnstated(document: JsonObject): JsonObject {
  const unstated: JsonObject = {};
  const gathered = mapObjects(document, (object, pointer) => {
    const { "x-unstated": text, ...others } = object;
    if (text === undefined) return object;
    unstated[pointer] = text;
    return others;
  });
  return { ...(gathered as JsonObject), "x-unstated": unstated };
}

// A default response counts as a success, too, for tools that have one type for all successes.
function withoutDefault(responses: JsonObject): JsonObject {
  const { default: _, ...statuses } = responses;
  return statuses;
}

function openSchemas(paths: JsonObject, components: JsonObject): JsonObject {
  const allResponses: Json[] = [];
  const requests: Json[] = [];
  mapItems(paths, (operation) => {
    const { responses, ...others } = operation;
    allResponses.push({ responses: responses as Json });
    requests.push(others);
    return operation;
  });
  const received = namesReached(allResponses, components, "schemas");
  const sent = namesReached(requests, components, "schemas");
  return mapValues(components.schemas as JsonObject, (schema, name) => {
    if (!received.has(name)) return schema;
    if (sent.has(name))
      throw new Error(`${name} is in a request and in a response: it needs a schema for each.`);
    return openResponse(schema as JsonObject);
  });
}

/**
 * The form for clients with a default for each body that must be sent and can only be one thing, `{}`: tools for
 * assistants send it by themselves. In 3.1 alone: ogen, which reads 3.0, knows no default of an object.
 */
export function withOnlyValues(client: JsonObject): JsonObject {
  const components = client.components as JsonObject;
  const schemas = mapValues(components.schemas as JsonObject, (schema) => {
    const { type, additionalProperties, properties } = schema as JsonObject;
    const isEmpty = type === "object" && additionalProperties === false && properties === undefined;
    return isEmpty ? { ...(schema as JsonObject), default: {} } : schema;
  });
  return { ...client, components: { ...components, schemas } };
}

// A file is sent as application/octet-stream by itself; ogen makes no client where that is written out.
function withoutOwnEncoding(operation: JsonObject): JsonObject {
  return mapObjects(operation, ({ encoding, ...media }) => {
    if (encoding === undefined) return media;
    const own = JSON.stringify({ contentType: "application/octet-stream" });
    const others = mapValues(encoding as JsonObject, (each) =>
      JSON.stringify(each) === own ? undefined : each,
    );
    return Object.keys(others).length === 0 ? media : { ...media, encoding: others };
  }) as JsonObject;
}

// What nothing refers to any more would be a warning of linters, and a file in some clients.
function prune(document: JsonObject): JsonObject {
  const components = document.components as JsonObject;
  const pruned = mapValues(components, (members, kind) => {
    if (kind === "securitySchemes") return members;
    const reached = namesReached({ paths: document.paths as Json }, components, kind);
    return mapValues(members as JsonObject, (member, name) => (reached.has(name) ? member : undefined));
  });
  return { ...document, components: pruned };
}

function mapItems(paths: JsonObject, map: (operation: JsonObject) => JsonObject): JsonObject {
  return mapValues(paths, (item) =>
    mapValues(item as JsonObject, (operation) => (isObject(operation) ? map(operation) : operation)),
  );
}

// What makes a client refuse a value that the service sends.
const limits = new Set(
  (
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf pattern minLength maxLength minItems maxItems " +
    "uniqueItems minProperties maxProperties not"
  ).split(" "),
);
// A service may write an empty text where nothing is set, which is no UUID.
const limitingFormats = new Set(["uuid"]);

/** A schema of a response that takes whatever a newer service sends; the rules it had stand in x-limits. */
export function openResponse(schema: JsonObject): JsonObject {
  const dropped = Object.entries(schema).filter(([key, value]) => isLimit(key, value));
  const kept = Object.entries(schema).filter(([key, value]) => !isLimit(key, value) && !isOfEnum(key));
  const opened = mapValues(Object.fromEntries(kept), openKeyword);
  const described = withSentences(opened, schema);
  const known = schema.enum === undefined ? {} : { "x-extensible-enum": schema.enum };
  const rules = dropped.length === 0 ? {} : { "x-limits": Object.fromEntries(dropped) };
  // Clients in Java and Go refuse unknown fields unless they are told not to.
  const others =
    schema.type === "object" && schema.additionalProperties === undefined
      ? { additionalProperties: true }
      : {};
  return { ...described, ...others, ...known, ...rules };
}

function isLimit(key: string, value: Json): boolean {
  return limits.has(key) || (key === "format" && limitingFormats.has(value as string));
}

// A list of names or texts in the order of an enumeration means nothing without it. The default of a response
// would stand in a client for what the service did not say.
function isOfEnum(key: string): boolean {
  return /^(enum|default|x-enumNames|x-enum-descriptions)$/.test(key);
}

function openKeyword(value: Json, key: string): Json {
  if (key === "properties") return mapValues(value as JsonObject, (each) => openResponse(each as JsonObject));
  if (Array.isArray(value) && /^(allOf|anyOf|oneOf)$/.test(key)) {
    return value.map((each) => openResponse(each as JsonObject));
  }
  return /^(items|additionalProperties)$/.test(key) && isObject(value) ? openResponse(value) : value;
}

// What the keywords said is said in words: the known values, and the default.
function withSentences(opened: JsonObject, schema: JsonObject): JsonObject {
  const meanings = (schema["x-enumDescriptions"] ?? {}) as Record<string, string>;
  const values = Array.isArray(schema.enum) ? (schema.enum as string[]) : [];
  const known = values.map((value) => `- \`${value}\`${meanings[value] ? `: ${meanings[value]}` : ""}`);
  const sentences = [
    ...(known.length > 1 ? [`Known values; a newer service may send others:\n\n${known.join("\n")}`] : []),
    ...(schema.default === undefined ? [] : [`The service's default is \`${schema.default}\`.`]),
  ];
  if (sentences.length === 0) return opened;
  return { ...opened, description: [schema.description, ...sentences].join("\n\n") };
}
