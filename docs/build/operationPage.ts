// A page of the HTTP reference for an operation: what the contract says, and what a person wrote for it.
import { existsSync } from "node:fs";
import { isSafe } from "../../scripts/generate/document.js";
import type { OperationShape, ResponseKind } from "../../scripts/generate/operations.js";
import { blocksOf } from "./blocks.js";
import type { Contract, Example, Operation, OperationResponse, Parameter, Schema } from "./contract.js";
import { type Field, fieldsOf, fieldTable, job } from "./fields.js";
import { block, code, head, prose, table, unstated } from "./markdown.js";
import { pageOf } from "./operations.js";
import { otherSamples } from "./otherSamples.js";

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
