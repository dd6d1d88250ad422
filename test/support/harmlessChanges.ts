import {
  addScheme,
  addValue,
  field,
  type Part,
  rerank,
  resume,
  reverse,
  schema,
  upload,
} from "./contractParts.js";

/** A change to a copy of the contract. */
export interface HarmlessChange {
  readonly name: string;
  readonly change: (d: Part) => unknown;
  /** Where oasdiff calls it breaking all the same. */
  readonly oasdiff?: "breaks";
}

type Row = readonly [name: string, change: HarmlessChange["change"], oasdiff?: "breaks"];

const rows: readonly Row[] = [
  [
    "texts and examples change",
    (d) => {
      d.info.description = "x";
      field(d, "RerankRequest", "query").description = "x";
      field(d, "RerankRequest", "query").example = "x";
      delete d.paths[rerank].post["x-unstated"];
    },
  ],
  ["the version changes", (d) => (d.info.version = "5.11.0")],
  [
    "an optional request field is added",
    (d) => (schema(d, "RerankRequest").properties.language = { type: "string" }),
  ],
  ["a least value is lowered", (d) => (field(d, "RerankRequest", "top_n").minimum = 0)],
  ["fewer items are needed", (d) => delete field(d, "RerankRequest", "documents").minItems],
  ["a pattern is dropped from a request", (d) => delete field(d, "RerankRequest", "model").pattern],
  ["a larger file is taken", (d) => (field(d, "DatasetUpload", "file")["x-max-bytes"] = 314_572_800)],
  ["a field is deprecated", (d) => (field(d, "RerankRequest", "task").deprecated = true)],
  ["a default is stated", (d) => (field(d, "RerankRequest", "task").default = "rank")],
  ["a closed request is opened", (d) => (schema(d, "JobResumption").additionalProperties = true)],
  [
    "a further media type is taken",
    (d) => (d.paths[rerank].post.requestBody.content["text/plain"] = { schema: { type: "string" } }),
  ],
  [
    "an optional parameter is added",
    (d) => (d.paths[rerank].post.parameters = [{ name: "trace", in: "query", schema: { type: "string" } }]),
  ],
  [
    "a field is added to a response",
    (d) => {
      schema(d, "RerankResult").properties.score = { type: "number" };
      schema(d, "RerankResult").required.push("score");
    },
  ],
  [
    "a response's enumeration gets a value",
    (d) => addValue(d, "JobState", "JOB_STATE_FROZEN", "JobStateFrozen"),
  ],
  ["a response's number is limited", (d) => (field(d, "RerankResult", "relevance_score").minimum = 0)],
  [
    "a response's fields exclude each other",
    (d) => (schema(d, "RerankResult").not = { required: ["a", "b"] }),
  ],
  [
    "a status is added",
    (d) => (d.paths[rerank].post.responses["422"] = { $ref: "#/components/responses/BadRequest" }),
  ],
  [
    "a header is added",
    (d) =>
      (d.components.responses.Conflict.headers["Retry-After"] = { $ref: "#/components/headers/RetryAfter" }),
  ],
  [
    "an operation is added",
    (d) =>
      (d.paths["/v1/models"] = {
        get: {
          operationId: "listModels",
          "x-retry-safe": true,
          responses: { default: { $ref: "#/components/responses/UnexpectedError" } },
        },
      }),
  ],
  ["a repeat becomes safe", (d) => (d.paths[resume].post["x-retry-safe"] = true)],
  [
    "another credential will do as well",
    (d) => {
      addScheme(d);
      d.security = [{ bearerAuth: [] }, { key: [] }];
    },
  ],
  [
    "a code is added",
    (d) => {
      addValue(d, "Code", "TOO_EARLY", "CodeTooEarly");
      schema(d, "Code")["x-http-statuses"].TOO_EARLY = 425;
    },
  ],
  [
    "a file's own encoding is no longer written out",
    (d) => delete d.paths[upload].post.requestBody.content["multipart/form-data"].encoding,
  ],
  [
    "unevaluatedProperties allows everything",
    (d) => (schema(d, "RerankRequest").unevaluatedProperties = true),
  ],
  [
    "a reference stands in an allOf",
    (d) => {
      field(d, "RerankResponse", "usage").allOf = [{ $ref: field(d, "RerankResponse", "usage").$ref }];
      delete field(d, "RerankResponse", "usage").$ref;
    },
    "breaks",
  ],
  [
    "the order of everything changes",
    (d) => {
      reverse(d.paths);
      reverse(d.components.schemas);
      for (const one of Object.values(d.components.schemas) as Part[]) {
        reverse(one.properties ?? {});
        one.required?.reverse();
      }
    },
  ],
];

/** Changes that break nobody. */
export const harmlessChanges: readonly HarmlessChange[] = rows.map(([name, change, oasdiff]) => ({
  name,
  change,
  ...(oasdiff && { oasdiff }),
}));
