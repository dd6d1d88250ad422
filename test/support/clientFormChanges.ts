import { all, type BreakingChange } from "./breakingChanges.js";
import { field, remove, rerank, resume, schema } from "./contractParts.js";

/** Changes of the form for clients that only its making can bring about, or that only change generated code. */
export const clientFormChanges: readonly BreakingChange[] = [
  {
    name: "a response's field is always there",
    change: (d) => {
      schema(d, "RerankResult").required.push("document");
    },
    breaks: [
      "RerankResult.document, in answers: is now always there. Breaks users of generated code (rerankDocuments).",
    ],
    oasdiff: "silent",
  },
  {
    name: "a request field may be left out",
    change: (d) => {
      remove(schema(d, "RerankRequest").required, "documents");
    },
    breaks: [
      "RerankRequest.documents, in requests: may now be left out. Breaks users of generated code (rerankDocuments).",
    ],
    oasdiff: "silent",
  },
  {
    name: "a request body may be left out",
    change: (d) => {
      d.paths[resume].post.requestBody.required = false;
    },
    breaks: [
      "request body: may now be left out. Breaks users of generated code (resumeReinforcementFineTuningJob).",
    ],
    oasdiff: "silent",
  },
  {
    name: "a response has no further properties",
    change: (d) => {
      schema(d, "RerankUsage").additionalProperties = false;
    },
    breaks: [
      "RerankUsage.*, in answers: no further properties are read. Breaks users of generated code (rerankDocuments).",
    ],
    oasdiff: "silent",
  },
  {
    name: "a response no longer says that it may have further properties",
    change: (d) => {
      delete schema(d, "RerankUsage").additionalProperties;
    },
    breaks: [
      "RerankUsage, in answers: no longer says that further properties may come. Breaks users of generated code (rerankDocuments).",
    ],
    oasdiff: "silent",
  },
  {
    name: "a response's text is an enumeration again",
    change: (d) => {
      schema(d, "JobState").enum = schema(d, "JobState")["x-extensible-enum"];
    },
    breaks: [
      "JobState, in answers: is now limited to an enumeration. Breaks users of generated code (resumeReinforcementFineTuningJob).",
    ],
    oasdiff: "silent",
  },
  {
    name: "an error may only be JSON",
    change: (d) => {
      d.components.responses.NotFound.content = { "application/json": { schema: {} } };
    },
    breaks: [`status 404 */*: is gone. Breaks readers of answers (${all}).`],
  },
  {
    name: "a default response stands beside the statuses",
    change: (d) => {
      d.paths[rerank].post.responses.default = { $ref: "#/components/responses/BadRequest" };
    },
    breaks: ["status default: is new. Breaks users of generated code (rerankDocuments)."],
    oasdiff: "silent",
  },
  {
    name: "a default stands in for what the service did not say",
    change: (d) => {
      field(d, "ReinforcementFineTuningJob", "chunkSize").default = 200;
    },
    breaks: [
      "ReinforcementFineTuningJob.chunkSize, in answers: default was none, is 200. Breaks users of generated code (resumeReinforcementFineTuningJob).",
    ],
    oasdiff: "silent",
  },
  {
    name: "a bound stands in a response",
    change: (d) => {
      field(d, "JobProgress", "percent").maximum = 100;
    },
    breaks: [
      "JobProgress.percent, in answers: maximum was none, is 100. Breaks users of generated code (resumeReinforcementFineTuningJob).",
    ],
    oasdiff: "silent",
  },
  {
    name: "a text of a response must be a UUID",
    change: (d) => {
      field(d, "ObjectStorageBConfig", "tenantId").format = "uuid";
    },
    breaks: [
      "ObjectStorageBConfig.tenantId, in answers: format was none, is uuid. Breaks users of generated code (resumeReinforcementFineTuningJob).",
    ],
    oasdiff: "silent",
  },
  {
    name: "the file is no longer said to be bytes",
    change: (d) => {
      delete field(d, "DatasetUpload", "file").format;
    },
    breaks: [
      "DatasetUpload.file, in requests: format was binary, is none. Breaks users of generated code (uploadDatasetFile).",
    ],
    oasdiff: "silent",
  },
];
