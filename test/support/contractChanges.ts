import { readFileSync } from "node:fs";
import { contractOperations, idsWhere } from "./contract.js";

/** Any part of a copy of the contract. */
// biome-ignore lint/suspicious/noExplicitAny: a change reaches into any depth of a document
export type Part = any;

export const rerank: string = "/inference/v1/rerank";
const scale = "/v1/accounts/{account_id}/deployments/{deployment_id}:scale";

export function schema(d: Part, name: string): Part {
  return d.components.schemas[name];
}

export function field(d: Part, name: string, property: string): Part {
  return schema(d, name).properties[property];
}

/** A change to a copy of the contract. */
interface Change {
  readonly name: string;
  readonly change: (d: Part) => unknown;
}

/** What is told of it, too. */
interface BreakingChange extends Change {
  readonly breaks: readonly string[];
}

/** A change as data: what is merged into the parts at some places. */
interface Row {
  readonly change: Readonly<Record<string, object>>;
  readonly breaks?: readonly string[];
  readonly form?: "clients";
  readonly harmless?: string;
}

const rows: readonly Row[] = readFileSync(new URL("contractChanges.jsonl", import.meta.url), "utf8")
  .replaceAll("(all)", `(${idsWhere(() => true).join(", ")})`)
  .replaceAll("(ofAccounts)", `(${idsWhere(({ path }) => path.includes("{account_id}")).join(", ")})`)
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line));

// A place is an operation's id, a schema's name, a field (`RerankRequest.top_n`) or a key of the document, and keys below it.
function partAt(d: Part, place: string): Part {
  if (place === "") return d;
  const [first = "", ...keys] = place.split(" ");
  const [name = "", property] = first.split(".");
  const placed = contractOperations.find(({ operation }) => operation.operationId === name);
  const named = property === undefined ? (schema(d, name) ?? d[name]) : field(d, name, property);
  const start = placed ? d.paths[placed.path][placed.method.toLowerCase()] : named;
  return keys.reduce((part, key) => part[key], start);
}

// As RFC 7396 has it: null removes.
function merge(into: Part, patch: Part): void {
  for (const [key, value] of Object.entries<Part>(patch)) {
    if (value === null) delete into[key];
    else if (Object.getPrototypeOf(value) === Object.prototype && into[key]) merge(into[key], value);
    else into[key] = value;
  }
}

function merging(change: Row["change"]): Change["change"] {
  return (d) => {
    for (const [place, patch] of Object.entries(change)) merge(partAt(d, place), patch);
  };
}

function replaceKey(owner: Part, key: string, by: string): void {
  owner[by] = owner[key];
  delete owner[key];
}

function addValue(d: Part, name: string, value: string, constant: string): void {
  schema(d, name).enum.unshift(value);
  schema(d, name)["x-enumNames"].unshift(constant);
}

function dropValue(d: Part, name: string, value: string): void {
  const { enum: values, "x-enumNames": constants } = schema(d, name);
  constants.splice(values.indexOf(value), 1);
  values.splice(values.indexOf(value), 1);
}

function reverse(object: Part): void {
  for (const key of Object.keys(object).reverse()) {
    const value = object[key];
    delete object[key];
    object[key] = value;
  }
}

// Changes that are not merged: what is moved, renamed or taken out of a list.
const moves: Readonly<Record<string, Change["change"]>> = {
  "DatasetUpload.file, in requests: is gone. Breaks callers (uploadDatasetFile).\nDatasetUpload.data, in requests: is now required. Breaks callers (uploadDatasetFile).":
    (d) => {
      replaceKey(schema(d, "DatasetUpload").properties, "file", "data");
      schema(d, "DatasetUpload").required = ["data"];
    },
  "request application/json: is gone. Breaks callers (rerankDocuments).": (d) =>
    replaceKey(d.paths[rerank].post.requestBody.content, "application/json", "text/plain"),
  "POST /inference/v1/rerank: is gone. Breaks callers (rerankDocuments).": (d) =>
    replaceKey(d.paths, rerank, "/v2/rerank"),
  [`PATCH ${scale}: is gone. Breaks callers (scaleDeployment).`]: (d) =>
    replaceKey(d.paths[scale], "patch", "put"),
  "status 200 application/json: is gone. Breaks readers of answers (rerankDocuments).": (d) =>
    replaceKey(d.paths[rerank].post.responses["200"].content, "application/json", "text/csv"),
  "server {base_url}: is gone. Breaks callers.": (d) => (d.servers[0].url = "{base_url}/v2"),
  "JobState, in answers: value JOB_STATE_PAUSED is gone. Breaks users of generated code (resumeReinforcementFineTuningJob).":
    (d) => dropValue(d, "JobState", "JOB_STATE_PAUSED"),
  "Code DATA_LOSS: has no HTTP status. Breaks readers of answers.\nCode, in answers: value DATA_LOSS is gone. Breaks users of generated code (resumeReinforcementFineTuningJob).":
    (d) => {
      dropValue(d, "Code", "DATA_LOSS");
      delete schema(d, "Code")["x-http-statuses"].DATA_LOSS;
    },
  "schema RerankUsage: is now called Usage. Breaks users of generated code (rerankDocuments).": (d) => {
    replaceKey(d.components.schemas, "RerankUsage", "Usage");
    field(d, "RerankResponse", "usage").$ref = "#/components/schemas/Usage";
  },
};

function breaking(asked: Row["form"]): readonly BreakingChange[] {
  return rows.flatMap(({ breaks, form, change }) =>
    breaks && form === asked ? { name: breaks.join("\n"), change: merging(change), breaks } : [],
  );
}

/** Changes that break someone. */
export const breakingChanges: readonly BreakingChange[] = [
  ...breaking(undefined),
  ...Object.entries(moves).map(([name, change]) => ({ name, change, breaks: name.split("\n") })),
];

/** Changes of the form for clients that only its making can bring about, or that only change generated code. */
export const clientFormChanges: readonly BreakingChange[] = breaking("clients");

/** Changes that break nobody. */
export const harmlessChanges: readonly Change[] = [
  ...rows.flatMap(({ harmless: name, change }) => (name ? { name, change: merging(change) } : [])),
  {
    name: "a response's enumeration gets a value",
    change: (d) => addValue(d, "JobState", "JOB_STATE_FROZEN", "JobStateFrozen"),
  },
  {
    name: "a code is added",
    change(d) {
      addValue(d, "Code", "TOO_EARLY", "CodeTooEarly");
      schema(d, "Code")["x-http-statuses"].TOO_EARLY = 425;
    },
  },
  {
    name: "the order of everything changes",
    change(d) {
      reverse(d.paths);
      reverse(d.components.schemas);
      for (const one of Object.values<Part>(d.components.schemas)) {
        reverse(one.properties ?? {});
        one.required?.reverse();
      }
    },
  },
];
