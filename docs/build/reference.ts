import { existsSync, readFileSync } from "node:fs";
import { isSafe } from "../../scripts/generate/document.js";
import type { OperationShape, ResponseKind } from "../../scripts/generate/operations.js";
import { blocksOf } from "./blocks.js";
import type { Contract, Example, Operation, OperationResponse, Parameter, Schema } from "./contract.js";
import { block, code, head, type Page, prose, table, unstated } from "./markdown.js";
import { pageOf } from "./operations.js";

// Tables of fields: of bodies, responses, parameters and the parts of a job.

/** A line of a table of fields. */
export interface Field {
  readonly name: string;
  /** Whether it must be there, and who says so. */
  readonly note: string;
  readonly schema: Schema;
}

/** What the fields are of. */
export type Way = "request" | "response";

/** The fields of a schema, and below them those of what only it has. */
export function fieldsOf(contract: Contract, schema: Schema, way: Way): string {
  const fields = listed(schema, way);
  if (fields.length === 0) return "It has no fields: `{}`.\n";
  const inner = fields.flatMap((field) => within(contract, field, way));
  return [fieldTable(contract, fields), ...inner].join("\n");
}

function listed(owner: Schema, way: Way): Field[] {
  const { properties = {}, required = [] } = owner;
  const isOurs = /^Not stated: (which fields are (required|always there)|whether the field is required)/;
  const decided = isOurs.test(owner["x-unstated"]?.trim() ?? "") ? ", we assume" : "";
  // A response's field that must be there is nothing to do for the reader.
  const notes = way === "request" ? [`required${decided}`, "optional"] : ["", `optional${decided}`];
  return Object.entries(properties).map(([name, schema]) => {
    return { name, note: notes[required.includes(name) ? 0 : 1] ?? "", schema };
  });
}

// The fields of what only this response has; the parts of a job have a page.
function within(
  contract: Contract,
  { name, schema }: Field,
  way: Way,
  around: readonly string[] = [],
): string[] {
  const inner = namedBy(schema.items ?? schema);
  const shape = inner === undefined ? undefined : contract.schemas[inner];
  if (inner === undefined || !shape?.properties || jobParts(contract).includes(inner)) return [];
  if (around.includes(inner)) return [];
  const prefix = `${name}${schema.items ? "[]" : ""}.`;
  const fields = listed(shape, way).map((field) => ({ ...field, name: `${prefix}${field.name}` }));
  const names = Object.keys(shape.properties).join(", ");
  const title = `::: details ${schema.items ? "Each item of " : ""}${name}: ${names}`;
  const own = `${title}\n${unstated(shape, name)}\n\n${fieldTable(contract, fields)}\n:::\n`;
  return [own, ...fields.flatMap((field) => within(contract, field, way, [...around, inner]))];
}

/** One table of fields. */
export function fieldTable(contract: Contract, fields: readonly Field[]): string {
  const rows = fields.map(({ name, note, schema }) => [
    `${code(name)}${note === "" ? "" : ` ${chip(note)}`}`,
    typeOf(contract, schema),
    [prose(wordsOf(contract, schema)), rules(schema), unstated(schema, name)].filter(Boolean).join(" "),
  ]);
  return `${table(["Field", "Type", "Meaning"], rows)}\n`;
}

function chip(note: string): string {
  return `<span class="chip${note.startsWith("required") ? " required" : ""}">${note}</span>`;
}

// A field that points to a schema says what it is for itself; if it does not, the schema does.
function wordsOf(contract: Contract, schema: Schema): string {
  if (schema.description !== undefined) return schema.description;
  const name = namedBy(schema);
  return name === undefined ? "" : (contract.schemas[name]?.description?.split("\n\n")[0] ?? "");
}

function rules(schema: Schema): string {
  const said = [
    schema.readOnly && "Read-only.",
    schema.deprecated && "Deprecated.",
    schema.default !== undefined && `Default ${code(JSON.stringify(schema.default))}.`,
    limitOf(schema) && `${limitOf(schema)}.`,
  ];
  return said.filter(Boolean).join(" ");
}

/** What bounds a value. */
export function limitOf(schema: Schema): string {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, pattern } = schema;
  const bytes = schema["x-max-bytes"];
  return [
    minimum !== undefined && `At least ${minimum}`,
    maximum !== undefined && `${minimum === undefined ? "At" : "at"} most ${maximum}`,
    exclusiveMinimum !== undefined && `Greater than ${exclusiveMinimum}`,
    exclusiveMaximum !== undefined && `less than ${exclusiveMaximum}`,
    schema.multipleOf !== undefined && `A multiple of ${schema.multipleOf}`,
    ...countsOf(schema),
    pattern !== undefined && `Form ${code(pattern)}`,
    bytes !== undefined && `At most ${bytes.toLocaleString("en")} bytes, the larger reading of 150 MB`,
  ]
    .filter(Boolean)
    .join(", ");
}

function countsOf(schema: Schema): (string | false)[] {
  const counted = (words: string, count: number | undefined, noun: string): string | false =>
    count !== undefined && `${words} ${count} ${noun}${count === 1 ? "" : "s"}`;
  return [
    counted("At least", schema.minLength, "character"),
    counted("At most", schema.maxLength, "character"),
    counted("At least", schema.minItems, "item"),
    counted("At most", schema.maxItems, "item"),
    schema.uniqueItems === true && "No two items equal",
    counted("At least", schema.minProperties, "field"),
    counted("At most", schema.maxProperties, "field"),
  ];
}

function typeOf(contract: Contract, schema: Schema): string {
  const name = namedBy(schema);
  if (name !== undefined) {
    const { enum: values } = contract.schemas[name] ?? {};
    if (values !== undefined) return `[${name}](/enums/${name}.md)`;
    if (!jobParts(contract).includes(name)) return "object";
    return `[${name}](/reference/job.md#${name.toLowerCase()})`;
  }
  // "array of numbers (double)".
  if (schema.items) return `array of ${typeOf(contract, schema.items).replace(/^\w+/, "$&s")}`;
  if (typeof schema.additionalProperties === "object") {
    return `map of ${typeOf(contract, schema.additionalProperties)}`;
  }
  return `${schema.type ?? "any"}${schema.format === undefined ? "" : ` (${schema.format})`}`;
}

function namedBy({ $ref, allOf }: Schema): string | undefined {
  return ($ref ?? allOf?.[0]?.$ref)?.split("/").pop();
}

/** The schema with a page of its own. */
export const job = "ReinforcementFineTuningJob";

/** Every schema that a job is made of, in the order in which one meets them. */
export function jobParts({ schemas }: Contract): string[] {
  const found: string[] = [];
  const visit = (name: string): void => {
    const schema = schemas[name];
    if (schema === undefined || schema.enum !== undefined || found.includes(name)) return;
    found.push(name);
    for (const property of Object.values(schema.properties ?? {})) {
      for (const each of [property, property.items ?? {}]) visit(namedBy(each) ?? "");
    }
  };
  visit(job);
  return found;
}

// Calls of generated clients in other languages: those that `npm run check:generators` compiles and runs.

const callers = [
  {
    label: "Go (oapi-codegen)",
    file: "oapi-codegen/main.go",
    start: /^ +service, err := client\.New.*$/m,
    call: (id: string) => new RegExp(`service\\.${id}(WithBody)?WithResponse\\(`, "i"),
  },
  {
    label: "Java (openapi-generator)",
    file: "openapi-generator-java/Call.java",
    start: /^ +ApiClient client[\s\S]*?setBearerToken.*$/m,
    call: (id: string) => new RegExp(`\\.${id}\\(`),
  },
];

/** The request of an operation in Go and Java, as blocks of a code group. */
export function otherSamples(id: string): string[] {
  return callers.flatMap(({ label, file, start, call }) => {
    const path = new URL(`../../checks/generators/callers/${file}`, import.meta.url);
    const text = readFileSync(path, "utf8").replaceAll("\t", "  ");
    const lines = text.split("\n");
    const at = lastOf(lines, call(id));
    if (at < 0) return [];
    const from = lastOf(lines.slice(0, at), /^( {2})?\S.*\{$|try \{$|throws \w+ \{$/) + 1;
    const to = at + lines.slice(at).findIndex((line) => /\);?$/.test(line));
    // The function's own parameter is what it calls.
    const header = lines[lastOf(lines.slice(0, at), /static/)] ?? "";
    const [, type, name] = /\((\w+Api) (\w+)[,)]/.exec(header) ?? [];
    const made = type === undefined ? [] : [`${type} ${name} = new ${type}(client);`];
    const [set = ""] = start.exec(readFileSync(path, "utf8")) ?? [];
    const all = [
      ...dedented(set.replaceAll("\t", "  ").split("\n")),
      ...made,
      ...dedented(lines.slice(from, to + 1)),
    ];
    return [`${block(`${file.endsWith("go") ? "go" : "java"} [${label}]`, all.join("\n"))}\n`];
  });
}

function lastOf(lines: readonly string[], what: RegExp): number {
  return lines.reduce((found, line, index) => (what.test(line) ? index : found), -1);
}

function dedented(lines: readonly string[]): string[] {
  const indent = Math.min(...lines.filter((line) => line !== "").map((line) => line.search(/\S/)));
  const short = (line: string) => (line.length > 105 ? line.replace("(", "(\n    ") : line);
  return lines.map((line) => short(line.slice(indent)));
}

// A page of the HTTP reference for an operation: what the contract says, and what a person wrote for it.

/** The Markdown of its page. */
export function operationPage(contract: Contract, operation: Operation): string {
  const { id, method, path, told } = operation;
  const description = `${method} ${path}: parameters, body, responses and errors.`;
  return [
    head(`${told.summary} over HTTP`, description, { wide: true }),
    `# ${told.summary}\n`,
    `${block("http", `${method} ${path}`)}\n`,
    `${prose(told.description)}\n`,
    `Operation ${code(id)}; in TypeScript it is ${inTypeScript(operation)}. ${defaults(operation)} ${unstated(told)} ${unstated(contract.tags.find(({ name }) => told.tags.includes(name)))}\n`,
    exchange(samplesOf(pageOf(id).page, id), goodExamples(contract, operation)[0]),
    ...parameterParts(contract, operation),
    "## Body\n",
    body(contract, operation),
    "## Response\n",
    response(contract, operation),
    "## Errors\n",
    errors(contract, operation),
  ].join("\n");
}

function inTypeScript({ id, sdkMethod }: Operation): string {
  const { page, hasGuide } = pageOf(id);
  if (hasGuide) return `[${code(page)}](/guide/${page}.md)`;
  const [group = "contractClient"] = sdkMethod
    .split(".")
    .slice(0, -1)
    .map((name) => `${name}Operations`);
  return `[${code(`client.${sdkMethod}`)}](/api/tunerank.md#${group.toLowerCase()})`;
}

function defaults({ kind, timeoutMs, bytesPerSecond, maxResponseBytes, operation }: Operation): string {
  const more = bytesPerSecond && `, and a second more for each ${bytes(bytesPerSecond)} of the file`;
  return [
    `Its retry class is [${code(kind)}](/guide/extensions.md#x-retry):`,
    isSafe(operation) ? "it is idempotent." : "it is not idempotent.",
    `A call takes at most ${timeoutMs / 1000} s by default${more ?? ""}. Its response may have ${bytes(maxResponseBytes)}.`,
  ].join(" ");
}

function bytes(count: number): string {
  const unit = count % 2 ** 20 === 0 ? ["MiB", 2 ** 20] : count % 1024 === 0 ? ["KiB", 1024] : ["bytes", 1];
  return `${(count / Number(unit[1])).toLocaleString("en")} ${unit[0]}`;
}

const samples = [
  ["ts", "TypeScript"],
  ["sh", "curl"],
  ["py", "Python"],
] as const;

// Those of its guide, which tests run.
function samplesOf(name: string, id: string): string {
  if (!existsSync(new URL(`../guide/${name}.md`, import.meta.url))) return "";
  const blocks = blocksOf(`guide/${name}.md`);
  const lines = samples.flatMap(([extension, label]) => {
    const found = blocks.find(({ file }) => file === `${name}.${extension}`);
    return found === undefined ? [] : [`${block(`${found.language} [${label}]`, found.text)}\n`];
  });
  return lines.length === 0 ? "" : ["::: code-group\n", ...lines, ...otherSamples(id), ":::\n"].join("\n");
}

// Of a valid response. The one with every field of a job is on the job's page.
function goodExamples(
  contract: Contract,
  { told, response: { status, contentType = "" } }: Operation,
): Example[] {
  const { content = {} } = contract.resolve<OperationResponse>(told.responses[status] ?? {});
  const { everyField, ...examples } = content[contentType]?.examples ?? {};
  return Object.values(examples);
}

function exchange(request: string, response: Example | undefined): string {
  if (response === undefined) return request;
  const shown = `**Response**, an example that is made up\n\n${exampleBlock(response)}\n`;
  if (request === "") return shown;
  return `**Request**\n\n${request}\n\n${shown}`;
}

const places = { path: "Path", query: "Query", header: "Headers" } as const;

function parameterParts(contract: Contract, { parameters }: OperationShape): string[] {
  return (Object.keys(places) as (keyof typeof places)[]).flatMap((place) => {
    const fields = parameters[place].map((each) => asField(each as Parameter));
    if (fields.length === 0) return [];
    const lists = parameters[place].filter(({ schema }) => schema.items !== undefined);
    const note = lists.map(
      ({ name }) =>
        `Each value of ${code(name)} is sent as its own parameter: ${code(`${name}=A&${name}=B`)}.\n`,
    );
    return [`## ${places[place]}\n\n${fieldTable(contract, fields)}\n`, ...note];
  });
}

function asField({ name, required, description = "", schema, ...rest }: Parameter): Field {
  return { name, note: required ? "required" : "optional", schema: { ...schema, ...rest, description } };
}

function body(contract: Contract, { told, body: sent }: Operation): string {
  if (sent === undefined) return "The request has no body.\n";
  const { description = "", content } = contract.resolve<OperationResponse>(told.requestBody ?? {});
  const shape = contract.resolve<Schema>(sent.schema as Schema);
  const shown =
    sent.file === undefined ? examplesOf(Object.values(content?.[sent.contentType]?.examples ?? {})) : "";
  const may = sent.required ? "" : "The body is optional. ";
  return `${code(sent.contentType)}. ${may}${prose(description)} ${unstated(shape)}\n\n${fieldsOf(contract, shape, "request")}\n${shown}`;
}

const readAs: Readonly<Record<Exclude<ResponseKind, "json">, string>> = {
  none: "The response has no body.",
  bytes: "The body is bytes.",
  text: "The body is text.",
};

function response(contract: Contract, operation: Operation): string {
  const {
    told,
    response: { kind, status, contentType = "", schema },
  } = operation;
  const { description = "", headers = {} } = contract.resolve<OperationResponse>(
    told.responses[status] ?? {},
  );
  // The first stands at the top of the page.
  const others = goodExamples(contract, operation).slice(1);
  const shape = contract.resolve<Schema>((schema ?? {}) as Schema);
  const isJob = schema?.$ref?.endsWith(`/${job}`);
  const fields = isJob
    ? "[The job and its parts](/reference/job.md) has every field.\n"
    : `${fieldsOf(contract, shape, "response")}\n`;
  const lines =
    Object.keys(headers).length === 0
      ? ""
      : `::: details Its headers\n${headersOf(contract, headers)}\n:::\n\n`;
  const type = contentType && `, ${code(contentType)}`;
  return `HTTP ${status}${type}. ${prose(description)} ${kind === "json" ? `${unstated(shape)}\n\n${fields}` : `${readAs[kind]}\n`}\n${lines}${examplesOf(others)}`;
}

function headersOf(contract: Contract, headers: Readonly<Record<string, Parameter>>): string {
  const rows = Object.entries(headers).map(([name, header]) => {
    const found = contract.resolve<Parameter>(header);
    return [code(name), `${prose(found.description ?? "")}${unstated(found, name)}`];
  });
  return `${table(["Header", "Meaning"], rows)}\n`;
}

/** Examples, each folded. */
export function examplesOf(examples: readonly Example[]): string {
  const all = examples.map((example) => {
    const { summary = "Example" } = example;
    return `::: details Example, made up: ${summary}\n${exampleBlock(example)}\n:::\n`;
  });
  return all.join("\n");
}

function exampleBlock({ value }: Example): string {
  return typeof value === "string" ? block("text", value) : block("json", JSON.stringify(value, null, 2));
}

function errors(contract: Contract, { told, response: { status: good } }: Operation): string {
  const failed = Object.entries(told.responses)
    .filter(([status]) => status !== good)
    .map(
      ([status, response]) =>
        [status === "default" ? "any other" : status, contract.resolve<OperationResponse>(response)] as const,
    );
  const headers = Object.assign(
    {},
    ...Object.values(told.responses).map((each) => contract.resolve<OperationResponse>(each).headers),
  );
  const rows = failed.map(([status, each]) => {
    const { description = "", content = {} } = each;
    const codes = Object.keys(content["application/json"]?.examples ?? {}).filter(
      (name) => name in contract.codes,
    );
    return [
      status,
      codes.map((name) => `[${code(name)}](/codes/${name}.md)`).join(", "),
      `${prose(description)}${unstated(each, status)}`,
    ];
  });
  return [
    `${table(["HTTP", "Codes", "Meaning"], rows)}\n`,
    `Which operation responds with which code is not documented, nor is the shape of an error's body: [how the client reads it](/guide/error-bodies.md). ${unstated(contract.schemas.ErrorBody)}\n`,
    `::: details Headers
${headersOf(contract, headers)}
:::
`,
  ].join("\n");
}

// The HTTP reference: a page for each operation, one for the job and its parts, one for the limits. All of it is read
// from the contract, so that it says what every published document says.

/** The pages of the reference. */
export function referencePages(contract: Contract): Page[] {
  return [
    { path: "reference/index.md", text: overview(contract) },
    ...contract.operations.map((operation) => ({
      path: `reference/${pageOf(operation.id).page}.md`,
      text: operationPage(contract, operation),
    })),
    { path: "reference/job.md", text: jobPage(contract) },
    { path: "reference/limits.md", text: limitsPage(contract) },
  ];
}

function overview(contract: Contract): string {
  const rows = contract.operations.map(({ id, method, path, kind, told }) => [
    `[${told.summary}](/reference/${pageOf(id).page}.md)`,
    `${code(method)} ${code(path)}`,
    `${isSafe(told) ? "yes" : "no"}: ${code(kind)}`,
  ]);
  const [server] = contract.servers;
  return [
    head("HTTP reference", "Every operation over HTTP: address, key, request, responses and errors."),
    "# HTTP reference\n",
    `${prose(contract.description)}\n`,
    table(["Operation", "Request", "[Idempotent](/guide/extensions.md#x-retry)"], rows),
    "\n## Address and key\n",
    `Every path is appended to the address of the service. ${unstated(server)}\n`,
    `${prose(contract.bearer.description ?? "")} ${unstated(contract.bearer)}\n`,
    "## More\n",
    "- [The job and its parts](/reference/job.md), the largest response.",
    "- [Status codes](/codes/index.md), [job states](/enums/JobState.md), [other enumerations](/enums/index.md), [limits](/reference/limits.md).",
    "- [How an error response is read](/guide/error-bodies.md): its shape is not documented.",
    "- [The contract to download](/guide/documents.md), for generators, mocks and validators.",
    "- [What is not documented](/guide/unstated.md), all in one place.\n",
    `Contract ${contract.version}, revision ${contract.revision}. ${unstated({ "x-unstated": contract.unstated })}`,
  ].join("\n");
}

function jobPage(contract: Contract): string {
  const [whole = job, ...parts] = jobParts(contract);
  const partOf = (name: string): string => {
    const schema = contract.schemas[name] ?? fail();
    const words = `${prose(schema.description ?? name)} ${unstated(schema, name)}`;
    return `::: details ${name}\n<div id="${name.toLowerCase()}">\n\n${words}\n\n</div>\n\n${fieldsOf(contract, schema, "request")}\n:::\n`;
  };
  const schema = contract.schemas[whole] ?? fail();
  const withResponse = contract.operations.filter(({ response: { schema: each } }) =>
    each?.$ref?.endsWith(`/${job}`),
  );
  const links = withResponse.map(({ id }) => {
    const { page } = pageOf(id);
    return `[${page}](/reference/${page}.md)`;
  });
  const [first = fail()] = withResponse;
  const { everyField } =
    first.told.responses[first.response.status]?.content?.["application/json"]?.examples ?? {};
  return [
    head("A reinforcement fine-tuning job", "Every field of a job, and of the parts it is made of.", {
      wide: true,
    }),
    "# The job and its parts\n",
    `${prose(schema.description ?? "")} It is the response of ${links.join(" and ")}. ${unstated(schema)}\n`,
    fieldsOf(contract, schema, "request"),
    "## Its parts\n",
    parts.map(partOf).join("\n"),
    examplesOf(everyField === undefined ? [] : [everyField]),
  ].join("\n");
}

function limitsPage(contract: Contract): string {
  const fields = Object.entries(contract.schemas).flatMap(([owner, { properties = {} }]) =>
    Object.entries(properties).map(([name, schema]) => ({ owner, name, schema })),
  );
  const parameters = contract.operations.flatMap(({ id, parameters: all }) =>
    Object.values(all)
      .flat()
      .map(({ name, schema }) => ({ owner: id, name, schema: schema as Schema })),
  );
  const rows = [...fields, ...parameters]
    .filter(({ schema }) => limitOf(schema) !== "" || schema.default !== undefined)
    .map(({ owner, name, schema }) => [
      code(name),
      code(owner),
      `${limitOf(schema)}${unstated(schema, name)}`,
      schema.default === undefined ? "" : code(JSON.stringify(schema.default)),
    ]);
  return [
    head("Limits", "Every limit and default that the contract names."),
    "# Limits\n",
    "Every limit and default that the contract names. Rate limits and quotas are not documented, and none is assumed.\n",
    table(["Field", "Of", "Limit", "Default"], rows),
  ].join("\n");
}

function fail(): never {
  throw new Error("The contract has another form than the reference expects.");
}
