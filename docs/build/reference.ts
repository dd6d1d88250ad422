// The HTTP reference: a page for each operation, one for the job and its parts, one for the limits. All of it is read
// from the contract, so that it says what every published document says.
import { isSafe, shortName } from "../../scripts/generate/document.js";
import type { Answer, Contract, Parameter, Path, Schema } from "./contract.js";
import { block, code, head, type Page, prose, table, unstated } from "./markdown.js";

/** The pages of the reference. */
export function referencePages(contract: Contract): Page[] {
  const operations = operationsOf(contract);
  return [
    { path: "reference/index.md", text: overview(contract, operations) },
    ...operations.map((operation) => ({
      path: `reference/${operation.name}.md`,
      text: operationPage(contract, operation),
    })),
    { path: "reference/job.md", text: jobPage(contract) },
    { path: "reference/limits.md", text: limitsPage(contract) },
  ];
}

interface Operation {
  /** As the client calls it. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly told: Path;
}

function operationsOf({ paths }: Contract): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, told]) => {
      return { name: shortName(told["x-sdk-method"]), method: method.toUpperCase(), path, told };
    }),
  );
}

function overview(contract: Contract, operations: readonly Operation[]): string {
  const rows = operations.map(({ name, method, path, told }) => [
    `[${told.summary}](/reference/${name}.md)`,
    `${code(method)} ${code(path)}`,
    isSafe(told) ? "yes" : "no",
  ]);
  const [server] = contract.servers;
  return [
    head("HTTP reference", "The four operations over HTTP: address, key, request, answers and errors."),
    "# HTTP reference\n",
    `${prose(contract.description)}\n`,
    table(["Operation", "Request", "Safe to repeat"], rows),
    "\n## Address and key\n",
    `Every path is appended to the address of the service. ${unstated(server)}\n`,
    `${prose(contract.bearer.description ?? "")} ${unstated(contract.bearer)}\n`,
    "## More\n",
    "- [The job and its parts](/reference/job.md), the largest answer.",
    "- [Status codes](/codes/index.md), [job states](/enums/JobState.md), [other enumerations](/enums/index.md), [limits](/reference/limits.md).",
    "- [How an error answer is read](/guide/error-bodies.md): its shape is not documented.",
    "- [The document itself](/guide/documents.md), for generators, mocks and validators.",
    "- [What is left open](/guide/unstated.md), all in one place.\n",
    `Contract ${contract.version}, revision ${contract.revision}. ${unstated({ "x-unstated": contract.unstated })}`,
  ].join("\n");
}

const samples = [
  ["ts", "TypeScript"],
  ["sh", "curl"],
  ["py", "Python"],
] as const;

function operationPage(contract: Contract, { name, method, path, told }: Operation): string {
  const parameters = (told.parameters ?? []).map((each) => contract.resolve<Parameter>(each));
  return [
    head(`${told.summary} over HTTP`, `${method} ${path}: parameters, body, answers and errors.`, {
      wide: true,
    }),
    `# ${told.summary}\n`,
    `${block("http", `${method} ${path}`)}\n`,
    `${prose(told.description)}\n`,
    `Operation ${code(told.operationId)}; in TypeScript it is [\`${name}\`](/guide/${name}.md). ${
      isSafe(told) ? "It may be sent twice." : "It is not safe to send twice."
    } ${unstated(told)} ${unstated(contract.tags.find(({ name: tag }) => told.tags.includes(tag)))}\n`,
    "::: code-group\n",
    ...samples.map(([extension, label]) => `<<< @/snippets/${name}.${extension} [${label}]\n`),
    ":::\n",
    parameters.length === 0 ? "" : `## Path\n\n${fieldTable(contract, parameters.map(asField))}\n`,
    "## Body\n",
    body(contract, told),
    "## Answer\n",
    answer(contract, told),
    "## Errors\n",
    errors(contract, told),
    "## Try it\n",
    `Against the stand-in, on your machine: \`npx tunerank mock\`, then the samples above with \`TUNERANK_BASE_URL=http://127.0.0.1:4010\`, \`TUNERANK_API_KEY=any\` and \`TUNERANK_ACCOUNT_ID=acme\`.\n`,
    `::: details Run it in this page\n<FailureLab operation="${name}" preset="nothing" />\n:::\n`,
  ].join("\n");
}

function asField({ name, description = "", schema, ...rest }: Parameter): Field {
  return { name, note: "required", schema: { ...schema, ...rest, description } };
}

function body(contract: Contract, { requestBody }: Path): string {
  const [[type, { schema, examples = {} }] = fail()] = Object.entries(requestBody.content);
  const shape = contract.resolve<Schema>(schema);
  const shown = type === "application/json" ? examplesOf(examples) : "";
  return `${code(type)}. ${prose(requestBody.description)} ${unstated(shape)}\n\n${fieldsOf(contract, shape, "request")}\n${shown}`;
}

function answer(contract: Contract, { responses }: Path): string {
  const { description = "", content = {}, headers = {} } = responses["200"] ?? fail();
  const { schema = fail(), examples: all = {} } = content["application/json"] ?? fail();
  // The one with every field of a job is on the job's page.
  const { everyField, ...examples } = all;
  const shape = contract.resolve<Schema>(schema);
  const isJob = schema.$ref?.endsWith("/ReinforcementFineTuningJob");
  const fields = isJob
    ? "[The job and its parts](/reference/job.md) has every field.\n"
    : `${fieldsOf(contract, shape, "answer")}\n`;
  return `HTTP 200, \`application/json\`. ${prose(description)} ${unstated(shape)}\n\n${fields}\n::: details Its headers\n${headersOf(contract, headers)}\n:::\n\n${examplesOf(examples)}`;
}

function headersOf(contract: Contract, headers: Readonly<Record<string, Parameter>>): string {
  const rows = Object.entries(headers).map(([name, header]) => {
    const found = contract.resolve<Parameter>(header);
    return [code(name), `${prose(found.description ?? "")} ${unstated(found)}`];
  });
  return `${table(["Header", "Meaning"], rows)}\n`;
}

function examplesOf(examples: Readonly<Record<string, { summary?: string; value: unknown }>>): string {
  const all = Object.values(examples).map(
    ({ summary = "Example", value }) =>
      `::: details Example, made up: ${summary}\n${block("json", JSON.stringify(value, null, 2))}\n:::\n`,
  );
  return all.join("\n");
}

function errors(contract: Contract, { responses }: Path): string {
  const answers = Object.values(responses).map((response) => contract.resolve<Answer>(response));
  const headers = Object.assign({}, ...answers.map((each) => each.headers ?? {}));
  const rows = Object.entries(responses)
    .filter(([status]) => status !== "200")
    .map(([status, response]) => {
      const told = contract.resolve<Answer>(response);
      const { description = "", content = {} } = told;
      const codes = Object.keys(content["application/json"]?.examples ?? {}).filter(
        (name) => name in contract.codes,
      );
      return [
        status === "default" ? "any other" : status,
        codes.map((name) => `[${code(name)}](/codes/${name}.md)`).join(", "),
        prose(description),
      ];
    });
  const open = Object.entries(responses).map(([status, response]) => [
    status === "default" ? "any other" : status,
    unstated(contract.resolve<Answer>(response)),
  ]);
  const decided = open.filter(([status, words]) => status !== "200" && words !== "");
  return [
    `${table(["HTTP", "Codes", "Meaning"], rows)}\n`,
    `Which operation answers with which code is not documented, nor is the shape of an error's body: [how it is read](/guide/error-bodies.md). ${unstated(contract.schemas.ErrorBody)}\n`,
    `::: details What is not documented of each, and its headers\n${table(["HTTP", "Decisions"], decided)}\n\n${headersOf(contract, headers)}\n:::\n`,
  ].join("\n");
}

interface Field {
  readonly name: string;
  /** Whether it must be there, and who says so. */
  readonly note: string;
  readonly schema: Schema;
}

type Way = "request" | "answer";

function fieldsOf(contract: Contract, schema: Schema, way: Way): string {
  const fields = listed(schema, way);
  if (fields.length === 0) return "It has no fields: `{}`.\n";
  const inner = fields.flatMap((field) => within(contract, field));
  return [fieldTable(contract, fields), ...inner].join("\n");
}

function listed(owner: Schema, way: Way): Field[] {
  const { properties = {}, required = [] } = owner;
  const isOurs = /^Not stated: (which fields are (required|always there)|whether the field is required)/;
  const decided = isOurs.test(owner["x-unstated"]?.trim() ?? "") ? ": decided here" : "";
  // A request's field is remarkable where it must be there, an answer's where it may not be.
  const notes = way === "request" ? [`required${decided}`, ""] : ["", `not always${decided}`];
  return Object.entries(properties).map(([name, schema]) => {
    return { name, note: notes[required.includes(name) ? 0 : 1] ?? "", schema };
  });
}

// The fields of what only this answer has; the parts of a job have a page.
function within(contract: Contract, { name, schema }: Field): string[] {
  const inner = namedBy(schema.items ?? schema);
  const shape = inner === undefined ? undefined : contract.schemas[inner];
  if (inner === undefined || !shape?.properties || jobParts(contract).includes(inner)) return [];
  const prefix = `${name}${schema.items ? "[]" : ""}.`;
  const fields = listed(shape, "answer").map((field) => ({ ...field, name: `${prefix}${field.name}` }));
  const names = Object.keys(shape.properties).join(", ");
  const title = `::: details ${schema.items ? "Each item of " : ""}${name}: ${names}`;
  return [`${title}\n${unstated(shape)}\n\n${fieldTable(contract, fields)}\n:::\n`];
}

function fieldTable(contract: Contract, fields: readonly Field[]): string {
  const rows = fields.map(({ name, note, schema }) => [
    `${code(name)}${note === "" ? "" : ` (${note})`}`,
    typeOf(contract, schema),
    [prose(wordsOf(contract, schema)), rules(schema), unstated(schema)].filter(Boolean).join(" "),
  ]);
  return `${table(["Field", "Type", "Meaning"], rows)}\n`;
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

function limitOf(schema: Schema): string {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, minItems, pattern } = schema;
  const bytes = schema["x-max-bytes"];
  return [
    minimum !== undefined && `At least ${minimum}`,
    maximum !== undefined && `${minimum === undefined ? "At" : "at"} most ${maximum}`,
    exclusiveMinimum !== undefined && `Greater than ${exclusiveMinimum}`,
    exclusiveMaximum !== undefined && `less than ${exclusiveMaximum}`,
    minItems !== undefined && `At least ${minItems} item${minItems === 1 ? "" : "s"}`,
    pattern !== undefined && `Form ${code(pattern)}`,
    bytes !== undefined && `At most ${bytes.toLocaleString("en")} bytes, the larger reading of 150 MB`,
  ]
    .filter(Boolean)
    .join(", ");
}

function typeOf(contract: Contract, schema: Schema): string {
  const name = namedBy(schema);
  if (name !== undefined) {
    const { enum: values } = contract.schemas[name] ?? {};
    if (values !== undefined) return `[${name}](/enums/${name}.md)`;
    if (!jobParts(contract).includes(name)) return "object";
    return `[${name}](/reference/job.md#${name.toLowerCase()})`;
  }
  if (schema.items) return `array of ${typeOf(contract, schema.items)}s`;
  if (typeof schema.additionalProperties === "object") {
    return `map of ${typeOf(contract, schema.additionalProperties)}`;
  }
  return [schema.type ?? "any", schema.format].filter(Boolean).join(", ");
}

function namedBy({ $ref, allOf }: Schema): string | undefined {
  return ($ref ?? allOf?.[0]?.$ref)?.split("/").pop();
}

const job = "ReinforcementFineTuningJob";

// Every schema that a job is made of, in the order in which one meets them.
function jobParts({ schemas }: Contract): string[] {
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

function jobPage(contract: Contract): string {
  const [whole = job, ...parts] = jobParts(contract);
  const partOf = (name: string): string => {
    const schema = contract.schemas[name] ?? fail();
    const words = `${prose(schema.description ?? name)} ${unstated(schema)}`;
    return `::: details ${name}\n<div id="${name.toLowerCase()}">\n\n${words}\n\n</div>\n\n${fieldsOf(contract, schema, "request")}\n:::\n`;
  };
  const schema = contract.schemas[whole] ?? fail();
  const resume = operationsOf(contract).find(({ name }) => name === "resume") ?? fail();
  const { everyField } = resume.told.responses["200"]?.content?.["application/json"]?.examples ?? {};
  return [
    head("A reinforcement fine-tuning job", "Every field of a job, and of the parts it is made of.", {
      wide: true,
    }),
    "# The job and its parts\n",
    `${prose(schema.description ?? "")} It is the answer of [resume](/reference/resume.md). ${unstated(schema)}\n`,
    '<TableFilter label="Find a field">\n',
    fieldsOf(contract, schema, "request"),
    "</TableFilter>\n",
    "## Its parts\n",
    parts.map(partOf).join("\n"),
    examplesOf(everyField === undefined ? {} : { everyField }),
  ].join("\n");
}

function limitsPage(contract: Contract): string {
  const rows = Object.entries(contract.schemas).flatMap(([owner, { properties = {} }]) =>
    Object.entries(properties)
      .filter(([, schema]) => limitOf(schema) !== "" || schema.default !== undefined)
      .map(([name, schema]) => [
        code(name),
        code(owner),
        `${limitOf(schema)} ${unstated(schema)}`,
        schema.default === undefined ? "" : code(JSON.stringify(schema.default)),
      ]),
  );
  return [
    head("Limits", "Every limit and default that the contract names."),
    "# Limits\n",
    "Every limit and default that the contract names. Rate limits and quotas are not documented, and none is assumed.\n",
    '<TableFilter label="Find a limit">\n',
    table(["Field", "Of", "Limit", "Default"], rows),
    "\n</TableFilter>\n",
  ].join("\n");
}

function fail(): never {
  throw new Error("The contract has another form than the reference expects.");
}
