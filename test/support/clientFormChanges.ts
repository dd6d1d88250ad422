import { all, type BreakingChange, changesOf } from "./breakingChanges.js";
import { field, remove, rerank, resume, schema } from "./contractParts.js";

/** Changes of the form for clients that only its making can bring about, or that only change generated code. */
export const clientFormChanges: readonly BreakingChange[] = changesOf([
  [
    "a response's field is always there",
    (d) => schema(d, "RerankResult").required.push("document"),
    "RerankResult.document, in answers: is now always there. Breaks users of generated code (rerankDocuments).",
    "silent",
  ],
  [
    "a request field may be left out",
    (d) => remove(schema(d, "RerankRequest").required, "documents"),
    "RerankRequest.documents, in requests: may now be left out. Breaks users of generated code (rerankDocuments).",
    "silent",
  ],
  [
    "a request body may be left out",
    (d) => (d.paths[resume].post.requestBody.required = false),
    "request body: may now be left out. Breaks users of generated code (resumeReinforcementFineTuningJob).",
    "silent",
  ],
  [
    "a response has no further properties",
    (d) => (schema(d, "RerankUsage").additionalProperties = false),
    "RerankUsage.*, in answers: no further properties are read. Breaks users of generated code (rerankDocuments).",
    "silent",
  ],
  [
    "a response no longer says that it may have further properties",
    (d) => delete schema(d, "RerankUsage").additionalProperties,
    "RerankUsage, in answers: no longer says that further properties may come. Breaks users of generated code (rerankDocuments).",
    "silent",
  ],
  [
    "a response's text is an enumeration again",
    (d) => {
      const state = field(d, "ReinforcementFineTuningJob", "state");
      state.enum = state["x-extensible-enum"];
    },
    "ReinforcementFineTuningJob.state, in answers: is now limited to an enumeration. Breaks users of generated code (resumeReinforcementFineTuningJob).",
    "silent",
  ],
  [
    "an error may only be JSON",
    (d) => (d.components.responses.NotFound.content = { "application/json": { schema: {} } }),
    `status 404 */*: is gone. Breaks readers of answers (${all}).`,
  ],
  [
    "a default response stands beside the statuses",
    (d) => (d.paths[rerank].post.responses.default = { $ref: "#/components/responses/BadRequest" }),
    "status default: is new. Breaks users of generated code (rerankDocuments).",
    "silent",
  ],
  [
    "a default stands in for what the service did not say",
    (d) => (field(d, "ReinforcementFineTuningJob", "chunkSize").default = 200),
    "ReinforcementFineTuningJob.chunkSize, in answers: default was none, is 200. Breaks users of generated code (resumeReinforcementFineTuningJob).",
    "silent",
  ],
  [
    "a bound stands in a response",
    (d) => (field(d, "JobProgress", "percent").maximum = 100),
    "JobProgress.percent, in answers: maximum was none, is 100. Breaks users of generated code (resumeReinforcementFineTuningJob).",
    "silent",
  ],
  [
    "a text of a response must be a UUID",
    (d) => (field(d, "ObjectStorageBConfig", "tenantId").format = "uuid"),
    "ObjectStorageBConfig.tenantId, in answers: format was none, is uuid. Breaks users of generated code (resumeReinforcementFineTuningJob).",
    "silent",
  ],
  [
    "the file is no longer said to be bytes",
    (d) => delete field(d, "DatasetUpload", "file").format,
    "DatasetUpload.file, in requests: format was binary, is none. Breaks users of generated code (uploadDatasetFile).",
    "silent",
  ],
]);
