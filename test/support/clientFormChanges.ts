import { all, type BreakingChange, changesOf } from "./breakingChanges.js";
import { field, remove, rerank, resume, schema } from "./contractParts.js";

/** Changes of the form for clients that only its making can bring about, or that only change generated code. */
export const clientFormChanges: readonly BreakingChange[] = [
  ...changesOf("breaks", {
    [`status 404 */*: is gone. Breaks readers of answers (${all}).`]: (d) =>
      (d.components.responses.NotFound.content = { "application/json": { schema: {} } }),
  }),
  ...changesOf("silent", {
    "RerankResult.document, in answers: is now always there. Breaks users of generated code (rerankDocuments).":
      (d) => schema(d, "RerankResult").required.push("document"),
    "RerankRequest.documents, in requests: may now be left out. Breaks users of generated code (rerankDocuments).":
      (d) => remove(schema(d, "RerankRequest").required, "documents"),
    "request body: may now be left out. Breaks users of generated code (resumeReinforcementFineTuningJob).": (
      d,
    ) => (d.paths[resume].post.requestBody.required = false),
    "RerankUsage.*, in answers: no further properties are read. Breaks users of generated code (rerankDocuments).":
      (d) => (schema(d, "RerankUsage").additionalProperties = false),
    "RerankUsage, in answers: no longer says that further properties may come. Breaks users of generated code (rerankDocuments).":
      (d) => delete schema(d, "RerankUsage").additionalProperties,
    "ReinforcementFineTuningJob.state, in answers: is now limited to an enumeration. Breaks users of generated code (resumeReinforcementFineTuningJob).":
      (d) => {
        const state = field(d, "ReinforcementFineTuningJob", "state");
        state.enum = state["x-extensible-enum"];
      },
    "status default: is new. Breaks users of generated code (rerankDocuments).": (d) =>
      (d.paths[rerank].post.responses.default = { $ref: "#/components/responses/BadRequest" }),
    "ReinforcementFineTuningJob.chunkSize, in answers: default was none, is 200. Breaks users of generated code (resumeReinforcementFineTuningJob).":
      (d) => (field(d, "ReinforcementFineTuningJob", "chunkSize").default = 200),
    "JobProgress.percent, in answers: maximum was none, is 100. Breaks users of generated code (resumeReinforcementFineTuningJob).":
      (d) => (field(d, "JobProgress", "percent").maximum = 100),
    "ObjectStorageBConfig.tenantId, in answers: format was none, is uuid. Breaks users of generated code (resumeReinforcementFineTuningJob).":
      (d) => (field(d, "ObjectStorageBConfig", "tenantId").format = "uuid"),
    "DatasetUpload.file, in requests: format was binary, is none. Breaks users of generated code (uploadDatasetFile).":
      (d) => delete field(d, "DatasetUpload", "file").format,
  }),
];
