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
  readonly change: (d: Part) => void;
  /** Where oasdiff calls it breaking all the same. */
  readonly oasdiff?: "breaks";
}

/** Changes that break nobody. */
export const harmlessChanges: readonly HarmlessChange[] = [
  {
    name: "texts and examples change",
    change: (d) => {
      d.info.description = "x";
      field(d, "RerankRequest", "query").description = "x";
      field(d, "RerankRequest", "query").example = "x";
      delete d.paths[rerank].post["x-unstated"];
    },
  },
  {
    name: "the version changes",
    change: (d) => {
      d.info.version = "5.11.0";
    },
  },
  {
    name: "an optional request field is added",
    change: (d) => {
      schema(d, "RerankRequest").properties.language = { type: "string" };
    },
  },
  {
    name: "a least value is lowered",
    change: (d) => {
      field(d, "RerankRequest", "top_n").minimum = 0;
    },
  },
  {
    name: "fewer items are needed",
    change: (d) => {
      delete field(d, "RerankRequest", "documents").minItems;
    },
  },
  {
    name: "a pattern is dropped from a request",
    change: (d) => {
      delete field(d, "RerankRequest", "model").pattern;
    },
  },
  {
    name: "a larger file is taken",
    change: (d) => {
      field(d, "DatasetUpload", "file")["x-max-bytes"] = 314_572_800;
    },
  },
  {
    name: "a field is deprecated",
    change: (d) => {
      field(d, "RerankRequest", "task").deprecated = true;
    },
  },
  {
    name: "a default is stated",
    change: (d) => {
      field(d, "RerankRequest", "task").default = "rank";
    },
  },
  {
    name: "a closed request is opened",
    change: (d) => {
      schema(d, "JobResumption").additionalProperties = true;
    },
  },
  {
    name: "a further media type is taken",
    change: (d) => {
      d.paths[rerank].post.requestBody.content["text/plain"] = { schema: { type: "string" } };
    },
  },
  {
    name: "an optional parameter is added",
    change: (d) => {
      d.paths[rerank].post.parameters = [{ name: "trace", in: "query", schema: { type: "string" } }];
    },
  },
  {
    name: "a field is added to a response",
    change: (d) => {
      schema(d, "RerankResult").properties.score = { type: "number" };
      schema(d, "RerankResult").required.push("score");
    },
  },
  {
    name: "a response's enumeration gets a value",
    change: (d) => {
      addValue(d, "JobState", "JOB_STATE_FROZEN", "JobStateFrozen");
    },
  },
  {
    name: "a response's number is limited",
    change: (d) => {
      field(d, "RerankResult", "relevance_score").minimum = 0;
    },
  },
  {
    name: "a response's fields exclude each other",
    change: (d) => {
      schema(d, "RerankResult").not = { required: ["a", "b"] };
    },
  },
  {
    name: "a status is added",
    change: (d) => {
      d.paths[rerank].post.responses["422"] = { $ref: "#/components/responses/BadRequest" };
    },
  },
  {
    name: "a header is added",
    change: (d) => {
      d.components.responses.Conflict.headers["Retry-After"] = { $ref: "#/components/headers/RetryAfter" };
    },
  },
  {
    name: "an operation is added",
    change: (d) => {
      d.paths["/v1/models"] = {
        get: {
          operationId: "listModels",
          "x-retry-safe": true,
          responses: { default: { $ref: "#/components/responses/UnexpectedError" } },
        },
      };
    },
  },
  {
    name: "a repeat becomes safe",
    change: (d) => {
      d.paths[resume].post["x-retry-safe"] = true;
    },
  },
  {
    name: "another credential will do as well",
    change: (d) => {
      addScheme(d);
      d.security = [{ bearerAuth: [] }, { key: [] }];
    },
  },
  {
    name: "a code is added",
    change: (d) => {
      addValue(d, "Code", "TOO_EARLY", "CodeTooEarly");
      schema(d, "Code")["x-http-statuses"].TOO_EARLY = 425;
    },
  },
  {
    name: "a file's own encoding is no longer written out",
    change: (d) => {
      delete d.paths[upload].post.requestBody.content["multipart/form-data"].encoding;
    },
  },
  {
    name: "unevaluatedProperties allows everything",
    change: (d) => {
      schema(d, "RerankRequest").unevaluatedProperties = true;
    },
  },
  {
    name: "a reference stands in an allOf",
    change: (d) => {
      field(d, "RerankResponse", "usage").allOf = [{ $ref: field(d, "RerankResponse", "usage").$ref }];
      delete field(d, "RerankResponse", "usage").$ref;
    },
    oasdiff: "breaks",
  },
  {
    name: "the order of everything changes",
    change: (d) => {
      reverse(d.paths);
      reverse(d.components.schemas);
      for (const one of Object.values(d.components.schemas) as Part[]) {
        reverse(one.properties ?? {});
        one.required?.reverse();
      }
    },
  },
];
