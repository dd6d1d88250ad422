// Writes the client's methods and their types for the operations that no file of src/wrappers names.
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { type Document, nameOf, type Parameter, resolve, type Schema } from "./document.js";
import type { OperationShape } from "./operations.js";

/** The public types of the methods, and what gives them to a client: files below src/wrappers. */
const [typesFile, codeFile] = ["contractMethods.ts", "contractClient.ts"];

/** Writes both files, by name. @param wrappers The folder src/wrappers */
export async function generateMethods(
  document: Document,
  operations: readonly OperationShape[],
  wrappers: string,
): Promise<Readonly<Record<string, string>>> {
  const wrapped = await wrappedBy(operations, wrappers);
  const groups = new Map<string, OperationShape[]>();
  const isWritten = new Set<string>();
  for (const shape of operations) {
    const [group] = namesOf(shape);
    const methods = groups.get(group) ?? [];
    groups.set(group, methods);
    if (wrapped.has(shape.id)) isWritten.add(group);
    else methods.push(shape);
  }
  const own = operations.filter(({ id }) => !wrapped.has(id));
  const interfaces = [...groups]
    .filter(([group]) => group !== "")
    .map(([group, shapes]) => interfaceOf(document, group, shapes));
  const roots = (groups.get("") ?? []).map((shape) => methodOf(document, shape));
  const fresh = [...groups.keys()].filter((group) => group !== "" && !isWritten.has(group));
  const members = fresh.map(
    (group) =>
      `  /** ${tagOf(document, groups.get(group) ?? [])} */\n  readonly ${group}: ${interfaceName(group)};`,
  );
  const typed = [...isWritten]
    .filter((group) => group !== "")
    .map((group) => `  readonly ${group}: ${interfaceName(group)};`);
  const types = [
    importsOf(document, own),
    ...interfaces,
    `/** What the contract adds to a client besides what is written by hand. */\nexport interface ContractClient {\n${[...roots, ...members].join("\n")}\n}\n`,
  ];
  const written = [...isWritten].filter((group) => group !== "").map(interfaceName);
  const code = [
    own.length === 0 ? "" : codeImports,
    `import type { ${["ContractClient", ...written].join(", ")} } from "./contractMethods.js";\n\n`,
    `/** All that the contract adds, by group. */\nexport interface ContractMethods extends ContractClient {\n${typed.join("\n")}\n}\n\n`,
    own.length === 0 ? noMethods : additionsOf(groups, isWritten),
  ];
  return { [typesFile as string]: types.join("\n"), [codeFile as string]: code.join("") };
}

const codeImports = `import type { ClientConfig } from "../call/settings.js";
import type { CallOptions } from "../options/types.js";
import { startCall } from "./invoke.js";
import { callOperation } from "./operationMethods.js";
`;

// A wrapper names its operation.
async function wrappedBy(operations: readonly OperationShape[], wrappers: string): Promise<Set<string>> {
  const files = (await readdir(wrappers, { recursive: true })).filter(
    (file) => file.endsWith(".ts") && file !== typesFile && file !== codeFile,
  );
  const texts = await Promise.all(files.map((file) => readFile(path.join(wrappers, file), "utf8")));
  const ids = operations.map(({ id }) => id);
  return new Set(ids.filter((id) => texts.some((text) => text.includes(`"${id}"`))));
}

function additionsOf(
  groups: ReadonlyMap<string, readonly OperationShape[]>,
  isWritten: ReadonlySet<string>,
): string {
  const additions = [...groups]
    .filter(([, shapes]) => shapes.length > 0)
    .map(([group, shapes]) => {
      const owner = group === "" ? "client" : isWritten.has(group) ? `client.${group}` : undefined;
      const calls = `{\n${shapes.map(callOf).join("")}  }`;
      return owner
        ? `  Object.assign(${owner}, ${calls});\n`
        : `  Object.assign(client, { ${group}: ${calls} });\n`;
    });
  const written = [...isWritten].filter((group) => group !== "").map((group) => `${group}: object`);
  return (
    "/** @internal Gives a client the methods that the contract has and nobody wrote. */\n" +
    `export function addMethods<T extends { ${written.join("; ")} }>(client: T, settings: ClientConfig): T & ContractMethods {\n` +
    `${additions.join("")}  return client as T & ContractMethods;\n}\n`
  );
}

function callOf(shape: OperationShape): string {
  const { id, parameters, body } = shape;
  const ids = idsOf(parameters.path).map(({ name }) => name);
  const hasParameters = parameters.query.length + parameters.header.length > 0;
  const others = [body && "body", hasParameters && "parameters"].filter((name) => typeof name === "string");
  const given = [
    ...[...ids, ...others].map((name) => `${name}: ${name === "parameters" ? "object" : "unknown"}`),
    "options?: CallOptions",
  ];
  const input = [`operation: "${id}"`, `ids: { ${ids.join(", ")} }`, ...others].join(", ");
  return (
    `    ${namesOf(shape)[1]}: (${given.join(", ")}) =>\n` +
    `      startCall("${id}", settings, () => callOperation(settings, { ${input} }, options)),\n`
  );
}

const noMethods = `/** @internal Gives a client the methods that the contract has and nobody wrote: there are none. */
export function addMethods<T>(client: T, _settings: unknown): T & ContractMethods {
  return client as T & ContractMethods;
}
`;

// The types of the methods that the contract adds to the client, with their descriptions.

/** The group and the name of its method, by `x-sdk-method`. */
export function namesOf({ sdkMethod }: OperationShape): [group: string, method: string] {
  const [method = "", group = ""] = sdkMethod.split(".").reverse();
  return [group, method];
}

/** The interface of a group. */
export function interfaceName(group: string): string {
  return `${group[0]?.toUpperCase()}${group.slice(1)}Operations`;
}

/** What the file of the types imports, and the types of others that it makes public. */
export function importsOf(document: Document, shapes: readonly OperationShape[]): string {
  const schemas = new Set<string>();
  const add = (schema: Schema | undefined): void => {
    const name = schema && nameOf(schema);
    if (name !== undefined) schemas.add(name);
  };
  for (const { body, response, parameters } of shapes) {
    if (body?.file === undefined) add(body?.schema);
    add(response.schema);
    for (const { schema } of [...parameters.query, ...parameters.header]) {
      add(schema);
      add(resolve(document, schema).items);
    }
  }
  const names = [...schemas].sort().join(", ");
  const types =
    shapes.length === 0 ? "" : `import type { CallOptions, CallPromise } from "../options/types.js";\n`;
  const hasFile = shapes.some(({ body }) => body?.file !== undefined);
  return [
    hasFile ? `import type { UploadFile } from "../files/fileSource.js";\n` : "",
    names && `import type { ${names} } from "../generated/types.js";\n`,
    types,
    hasFile
      ? `import type { UploadOptions } from "./types.js";
`
      : "",
    names &&
      `\nexport type { ${[...reachedFrom(document, schemas)].sort().join(", ")} } from "../generated/types.js";\n`,
  ].join("");
}

// What their schemas are made of is public too.
function reachedFrom(document: Document, names: Iterable<string>): Set<string> {
  const found = new Set<string>();
  const visit = (schema: Schema): void => {
    const name = nameOf(schema);
    if (name !== undefined && found.has(name)) return;
    if (name !== undefined) found.add(name);
    const { items, properties = {}, additionalProperties, oneOf = [] } = resolve(document, schema);
    for (const each of [items, additionalProperties, ...oneOf, ...Object.values(properties)])
      if (typeof each === "object") visit(each);
  };
  for (const name of names) visit({ $ref: `#/components/schemas/${name}` });
  return found;
}

/** What the contract adds to a group. */
export function interfaceOf(document: Document, group: string, shapes: readonly OperationShape[]): string {
  const methods = shapes.map((shape) => methodOf(document, shape));
  return `/** What the contract adds to \`client.${group}\`. */\nexport interface ${interfaceName(group)} {\n${methods.join("\n")}}\n`;
}

/** One method, with its description. */
export function methodOf(document: Document, shape: OperationShape): string {
  const [, name] = namesOf(shape);
  const args = argumentsOf(document, shape);
  const list = args
    .map(({ name: each, type, optional }) => `${each}${optional ? "?" : ""}: ${type}`)
    .join(", ");
  const words = [
    ...wrap(`${shape.operation.description} The contract's \`${shape.id}\`.`),
    "",
    ...args.map(({ name: each, words: said }) => `@param ${each} ${said}`),
    "@throws StatusError `INVALID_ARGUMENT` or `OUT_OF_RANGE` before anything is sent; any code of the service.",
  ];
  return `  /**\n${words.map((line) => `   * ${line}`.trimEnd()).join("\n")}\n   */\n  ${name}(${list}): CallPromise<${responseType(shape)}>;\n`;
}

interface Argument {
  readonly name: string;
  readonly type: string;
  readonly optional: boolean;
  readonly words: string;
}

function argumentsOf(document: Document, { parameters, body }: OperationShape): Argument[] {
  const found: Argument[] = idsOf(parameters.path).map(({ name, description = "" }) => ({
    name: name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
    type: "string",
    optional: false,
    words: oneLine(description),
  }));
  const more = [...parameters.query, ...parameters.header];
  const needsMore = more.some(({ required }) => required);
  if (body?.file !== undefined)
    found.push({
      name: "file",
      type: "UploadFile",
      optional: false,
      words: "A path, bytes, a Blob or a stream.",
    });
  else if (body)
    found.push({
      name: "body",
      type: nameOf(body.schema) ?? "",
      optional: !body.required && !needsMore,
      words: oneLine(
        body.schema.description ?? resolve(document, body.schema).description ?? "What is sent.",
      ),
    });
  if (more.length > 0)
    found.push({
      name: "parameters",
      type: parametersType(document, more),
      optional: !needsMore,
      words: more.map(({ name, description = "" }) => `\`${name}\`: ${oneLine(description)}`).join(" "),
    });
  const options = body?.file === undefined ? "CallOptions" : "UploadOptions";
  found.push({
    name: "options",
    type: options,
    optional: true,
    words: "What this call sets for itself, such as `timeoutMs` or `signal`.",
  });
  return found;
}

/** The parameters of a path that a caller gives. */
export function idsOf(path: readonly Parameter[]): readonly Parameter[] {
  return path.filter(({ name }) => name !== "account_id");
}

function parametersType(document: Document, parameters: readonly Parameter[]): string {
  const fields = parameters.map(({ name, required, schema }) => {
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name);
    return `${key}${required ? "" : "?"}: ${typeOf(document, schema)}${required ? "" : " | undefined"}`;
  });
  return `{ ${fields.join("; ")} }`;
}

const types: Readonly<Record<string, string>> = {
  integer: "number",
  number: "number",
  boolean: "boolean",
  string: "string",
};

function typeOf(document: Document, schema: Schema): string {
  const name = nameOf(schema);
  if (name !== undefined) return name;
  const { type = "", items, enum: values } = resolve(document, schema);
  if (items)
    return `readonly ${/ \| /.test(typeOf(document, items)) ? `(${typeOf(document, items)})` : typeOf(document, items)}[]`;
  return values ? values.map((value) => JSON.stringify(value)).join(" | ") : (types[type] ?? "unknown");
}

function responseType({ response }: OperationShape): string {
  if (response.kind === "json") return nameOf(response.schema ?? {}) ?? "object";
  return { none: "void", bytes: "Uint8Array", text: "string" }[response.kind];
}

/** What the document says of a group. */
export function tagOf(document: Document, [shape]: readonly OperationShape[]): string {
  const tags = (document as unknown as { tags?: { name: string; description?: string }[] }).tags ?? [];
  const [tag] = (shape?.operation as { tags?: string[] } | undefined)?.tags ?? [];
  return oneLine(tags.find(({ name }) => name === tag)?.description ?? `Operations of ${tag}.`);
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

// Comments of at most 110 columns, with what would end one written otherwise.
function wrap(text: string): string[] {
  const lines = [""];
  for (const word of oneLine(text).replaceAll("*/", "*\\/").split(" ")) {
    const last = lines.length - 1;
    if (lines[last] !== "" && `${lines[last]} ${word}`.length > 105) lines.push(word);
    else lines[last] = lines[last] === "" ? word : `${lines[last]} ${word}`;
  }
  return lines;
}
