import { cp, readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { parse } from "yaml";
import { compareRevisions } from "../../contract/breaking/changelog.js";
import type { RetryKind } from "../../scripts/generate/document.js";
import { type OperationShape, shapesOf } from "../../scripts/generate/operations.js";
import { code, head, type Page, prose, sentence, table, unstated } from "./markdown.js";

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

interface Decision {
  readonly open: string;
  readonly decided: string;
  readonly places: string[];
}

const groups: readonly (readonly [prefix: string, title: string])[] = [
  ["paths", "Operations"],
  ["components/schemas", "Schemas"],
  ["components/parameters", "Parameters"],
  ["components/responses", "Error responses"],
  ["", "The contract as a whole"],
];

/** Every `x-unstated` of the contract: what is left open, and what was decided. */
export function unstatedPart(contract: Contract): Page {
  const found = collect(contract.document, []);
  const places = found.flatMap((decision) => decision.places).length;
  const left = new Set(found);
  const parts = groups.map(([prefix, title]) => {
    const own = [...left].filter(({ places }) => places[0]?.startsWith(prefix));
    for (const decision of own) left.delete(decision);
    return `## ${title}\n\n${own.map(entry).join("\n")}`;
  });
  return {
    path: "parts/unstated.md",
    text: `${found.length} decisions, in ${places} places.\n\n${parts.join("\n\n")}\n`,
  };
}

function entry({ open, decided, places }: Decision): string {
  const names = [...new Set(places.map(shortName))].map(code).join(", ");
  // Where the tables of the guides link to.
  const anchor = places.includes("components/responses/PermissionDenied") ? '<span id="refused"></span>' : "";
  return `- ${anchor}${names}\n\n  *Not stated:* ${prose(open)}\n\n  *Decided:* ${prose(decided)}\n`;
}

// The same words in several places are one decision.
function collect(node: unknown, path: readonly string[], found: Decision[] = []): Decision[] {
  if (typeof node !== "object" || node === null) return found;
  for (const [key, value] of Object.entries(node)) {
    if (key !== "x-unstated") collect(value, [...path, key], found);
    else add(found, String(value), path);
  }
  return found;
}

function add(found: Decision[], text: string, path: readonly string[]): void {
  const parts = /^Not stated: (.*?)\s+Decided: (.*)$/s.exec(text.trim());
  if (parts === null)
    throw new Error(`x-unstated of ${path.join("/")} lacks "Not stated: ... Decided: ...".`);
  const [, open = "", decided = ""] = parts;
  const known = found.find((each) => each.open === open && each.decided === decided);
  if (known) known.places.push(path.join("/"));
  else found.push({ open, decided, places: [path.join("/")] });
}

function shortName(place: string): string {
  if (place.startsWith("paths/")) return place.slice("paths/".length).replace(/\/[a-z]+$/, "");
  const parts = place.split("/").filter((part) => !["components", "schemas", "properties"].includes(part));
  return parts.join(".") || "openapi.yaml";
}

const aboutStates = `\`job.state\` can be any of these after [resume](/guide/resume.md). The client passes it through; no state is an error by
itself. What a failed job reports is in \`job.status\`, which \`throwIfFailed\` reads. In which states resume is accepted, and
which state a job has afterwards, is [not documented](/guide/unstated.md).
`;

const untold = "The meaning is not documented.";

/** One page for each enumeration, and their list. */
export function enumPages(contract: Contract): Page[] {
  const enums = Object.entries(contract.schemas).filter(([, schema]) => schema.enum !== undefined);
  const lines = enums.map(([name, schema]) => [
    `[${code(name)}](/enums/${name}.md)`,
    String(schema.enum?.length),
    prose(firstLine(schema)),
  ]);
  const index = [
    head("Enumerations", "Every enumeration of the contract, with the meaning of each value."),
    "# Enumerations\n",
    "Values that are newer than this package pass through, and the types allow them.\n",
    table(["Name", "Values", "What it says"], lines),
  ].join("\n");
  return [
    { path: "enums/index.md", text: index },
    ...enums.map(([name, schema]) => ({ path: `enums/${name}.md`, text: enumPage(name, schema) })),
  ];
}

function enumPage(name: string, schema: Schema): string {
  return [
    head(name, `${name}: ${firstLine(schema)} Every value with its meaning.`),
    `# ${name}\n`,
    `${prose(firstLine(schema))}\n`,
    `${unstated(schema)}\n`,
    name === "JobState" ? aboutStates : "",
    "## Values\n",
    valuesOf(name, schema),
  ].join("\n");
}

function valuesOf(name: string, schema: Schema): string {
  const rows = (schema.enum ?? []).map((value) => {
    const meaning = schema["x-enumDescriptions"]?.[value] ?? untold;
    const shown = name === "Code" ? `[${code(value)}](/codes/${value}.md)` : code(value);
    return [`<span id="${value}">${shown}</span>`, prose(sentence(meaning))];
  });
  return table(["Value", "Meaning"], rows);
}

function firstLine({ description = "" }: Schema): string {
  return description.split("\n\n")[0]?.replaceAll("\n", " ") ?? "";
}

const root = new URL("../..", import.meta.url).pathname;
const kept = path.join(root, "contract/revisions");

/** The revisions of the contract, the newest first: those that are kept, and its own. */
async function revisions(): Promise<string[]> {
  const { revision } = await Contract.read();
  return [...new Set([...(await readdir(kept)), revision])].sort(compareRevisions).reverse();
}

/** Where each revision is served. */
export async function revisionsPart(): Promise<Page> {
  const named = (await revisions()).map((revision) => [revision, revision]);
  const [[latest = ""] = []] = named;
  const rows = [["latest", latest], ...named].map(([place = "", revision = ""]) => {
    const folder = `/contract/${place}/`;
    // Without a target, VitePress adds ".html".
    const sums = `[SHA256SUMS](${folder}SHA256SUMS){target="_self"}`;
    return [code(revision), code(folder), `[openapi.yaml](${folder}openapi.yaml), ${sums}`];
  });
  return { path: "parts/revisions.md", text: table(["Revision", "Folder", "Files"], rows) };
}

/** Serves every revision below /contract/, and the newest as /contract/latest/. */
export async function publishRevisions(site: string): Promise<void> {
  const [latest = ""] = await revisions();
  const served = path.join(site, "contract");
  await cp(kept, served, { recursive: true });
  await cp(path.join(root, "dist/revisions"), served, { recursive: true });
  await stat(path.join(served, latest, "SHA256SUMS"));
  await cp(path.join(served, latest), path.join(served, "latest"), { recursive: true });
}

/** The versions of the package and of the contract. */
export async function versionsPart(contract: Contract): Promise<Page> {
  const text = await readFile(new URL("../../package.json", import.meta.url), "utf8");
  const { version, engines } = JSON.parse(text) as { version: string; engines: { node: string } };
  const final = await readdir(new URL("../../contract/revisions", import.meta.url));
  const state = final.includes(contract.revision)
    ? "final"
    : `a draft; final revisions: ${final.sort(compareRevisions).map(code).join(", ")}`;
  const rows = [
    ["the package `tunerank`", code(version), "[changes](/guide/changelog.md)"],
    [
      "the contract, `x-contract-revision`",
      `${code(contract.revision)}, ${state}`,
      "[changes](/guide/contract-changelog.md)",
    ],
    [
      "the service's API, `version` of the OpenAPI document",
      code(contract.version),
      "[the contract](#the-contract)",
    ],
    ["Node, as the package asks for it", code(engines.node), "[below](#node)"],
  ];
  return { path: "parts/versions.md", text: table(["What", "Version", "More"], rows) };
}
