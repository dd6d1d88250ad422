import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { parse, stringify } from "yaml";
import { type Document, isSafe, type Operation, operationsOf, type RetryKind } from "../generate/document.js";
import { isObject, type Json, type JsonObject, mapObjects, mapValues, namesReached } from "./json.js";

/** The published forms of the contract by file name: two forms, each in 3.1 (YAML, JSON) and 3.0, and overlays. */
export function publishedForms(source: string): Record<string, string> {
  const document = published(parse(source) as JsonObject);
  const strict = toStrict31(document);
  const client = toClient(document);
  const forms = {
    "openapi.yaml": toYaml(strict),
    "openapi.json": toJson(strict),
    "openapi-3.0.json": toJson(toOpenApi30(document)),
    "openapi-client.yaml": toYaml(withOnlyValues(client)),
    "openapi-client.json": toJson(withOnlyValues(client)),
    "openapi-client-3.0.json": toJson(toOpenApi30(client)),
  };
  const named = Object.entries(overlays(parse(source) as Document));
  return { ...forms, ...Object.fromEntries(named.map(([name, text]) => [`overlays/${name}`, text])) };
}

/** Writes the published forms of the contract into a folder. */
export async function writeContract(source: string, folder: string): Promise<void> {
  const files = publishedForms(await readFile(source, "utf8"));
  await mkdir(path.join(folder, "overlays"), { recursive: true });
  for (const [name, content] of Object.entries(files)) await writeFile(path.join(folder, name), content);
}

// Aliases are written out, and quoted is whatever a reader of YAML 1.1 would take for something else than a string.
function toYaml(document: JsonObject): string {
  return stringify(document, { version: "1.1", aliasDuplicateObjects: false, lineWidth: 110 });
}

// On one line, for programs: people read and compare the YAML. The package is 71 kB lighter than with a line a member.
function toJson(document: JsonObject): string {
  return `${JSON.stringify(document)}\n`;
}

/**
 * The contract without what is for its editors, the sections of a document that its readers cannot get; and with
 * `x-retry-safe` beside each `x-retry`, which says the same to whoever needs one word.
 */
function published(document: JsonObject): JsonObject {
  return mapObjects(document, ({ "x-source": _, ...others }) => {
    const { "x-retry": kind } = others;
    if (kind === undefined) return others;
    const entries = Object.entries(others).flatMap((entry) =>
      entry[0] === "x-retry" ? [entry, ["x-retry-safe", isSafe({ "x-retry": kind as RetryKind })]] : [entry],
    );
    return Object.fromEntries(entries);
  }) as JsonObject;
}

/**
 * The form for validators, mocks and servers in OpenAPI 3.1: a file's bytes are named by their media type, without a type
 * of JSON, because for a validator bytes are no string (openapi-core).
 */
function toStrict31(document: JsonObject): JsonObject {
  return mapObjects(document, (object) => {
    const { type, format, ...others } = object;
    if (type !== "string" || format !== "binary") return object;
    return { contentMediaType: "application/octet-stream", ...others };
  }) as JsonObject;
}

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

interface Action {
  readonly target: string;
  readonly description: string;
  readonly update?: Readonly<Record<string, unknown>>;
  readonly remove?: true;
}

interface Vendor {
  readonly title: string;
  readonly comment: string;
  /** What is said of one operation, whose place in the document is the target. */
  actions(target: string, operation: Operation): Action[];
}

// A client that sees no code cannot tell DATA_LOSS from other 500s, so it does not repeat them.
const speakeasyRetries = {
  strategy: "backoff",
  backoff: { initialInterval: 250, maxInterval: 8000, maxElapsedTime: 30_000, exponent: 2 },
  statusCodes: ["408", "429", "502", "503", "504"],
  retryConnectionErrors: true,
};

const vendors: Readonly<Record<string, Vendor>> = {
  speakeasy: {
    title: "Names and retries of clients generated by Speakeasy",
    comment:
      "Such a client repeats nothing by itself: the operations that are safe to repeat are named here.",
    actions(target, operation) {
      const { group, method } = methodOf(operation);
      const update = {
        ...(group === undefined ? {} : { "x-speakeasy-group": group }),
        "x-speakeasy-name-override": method,
        ...(isSafe(operation) ? { "x-speakeasy-retries": speakeasyRetries } : {}),
      };
      const description = operation.operationId;
      const named: Action = { target, description, update };
      // Without a group and a tag a method stands on the client itself.
      if (group !== undefined) return [named];
      return [named, { target: `${target}.tags`, description, remove: true }];
    },
  },
  fern: {
    title: "Names and retries of clients generated by Fern",
    comment:
      "Such a client repeats every call by itself: the operations that are not safe are taken out here.",
    actions(target, operation) {
      const { group, method } = methodOf(operation);
      const update = {
        "x-fern-sdk-group-name": group === undefined ? [] : [group],
        "x-fern-sdk-method-name": method,
        ...(isSafe(operation) ? {} : { "x-fern-retries": { disabled: true } }),
      };
      return [{ target, description: operation.operationId, update }];
    },
  },
};

/** An overlay for each vendor, by file name: method names like ours, and `x-retry-safe` in the vendor's words. */
export function overlays(document: Document): Record<string, string> {
  return Object.fromEntries(
    Object.entries(vendors).map(([name, vendor]) => [`${name}.yaml`, overlay(document, vendor)]),
  );
}

// The call of this package's own client: the group, if any, and the method.
function methodOf(operation: Operation): { readonly group: string | undefined; readonly method: string } {
  const [method = "", group] = operation["x-sdk-method"].split(".").reverse();
  return { group, method };
}

// Each operation is named: not every tool knows the filters of JSONPath.
function overlay(document: Document, { title, comment, actions }: Vendor): string {
  const { version, "x-contract-revision": revision } = document.info;
  const content = {
    overlay: "1.0.0",
    info: { title, version, "x-contract-revision": revision },
    actions: operationsOf(document).flatMap(({ method, path, operation }) =>
      actions(`$.paths['${path}'].${method.toLowerCase()}`, operation),
    ),
  };
  return `# ${comment}\n${stringify(content, { aliasDuplicateObjects: false })}`;
}

/** Conformance data with the revision of the contract that it belongs to. */
export function withRevision(text: string, revision: string): string {
  const line = ` "x-contract-revision":${JSON.stringify(revision)},\n`;
  const known = /^ "x-contract-revision":.*\n/m;
  return known.test(text) ? text.replace(known, line) : text.replace(/^ "\$schema":.*\n/m, `$&${line}`);
}

/** A schema of conformance data with a name of its own for ever. */
export function withId(text: string, name: string, revision: string): string {
  const line = `  "$id": "urn:tunerank:contract:${revision}:conformance:${name}",\n`;
  const known = /^ {2}"\$id": .*\n/m;
  return known.test(text) ? text.replace(known, line) : text.replace(/^ {2}"\$schema": .*\n/m, `$&${line}`);
}

/** What is kept of a revision, by file name: the published forms, the conformance data, and their sums. */
export function revisionFiles(
  source: string,
  conformance: Readonly<Record<string, string>>,
): Record<string, string> {
  const files: Record<string, string> = { ...publishedForms(source) };
  for (const [name, text] of Object.entries(conformance)) files[`conformance/${name}`] = text;
  const names = Object.keys(files).sort();
  const sums = names.map((name) => `${sha256(files[name] ?? "")}  ${name}\n`);
  return { ...files, SHA256SUMS: sums.join("") };
}

/** Writes the contract's own revision to a folder of its name below `folder`. */
export async function writeRevision(root: string, folder: string): Promise<void> {
  const source = await readFile(path.join(root, "openapi.yaml"), "utf8");
  const data = path.join(root, "contract/conformance");
  const names = (await readdir(data)).filter((name) => name.endsWith(".json"));
  const texts = await Promise.all(names.map((name) => readFile(path.join(data, name), "utf8")));
  const conformance = Object.fromEntries(names.map((name, index) => [name, texts[index] ?? ""]));
  const [, revision = ""] = /^ {2}x-contract-revision: (.+)$/m.exec(source) ?? [];
  for (const [name, text] of Object.entries(revisionFiles(source, conformance))) {
    const file = path.join(folder, revision, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
