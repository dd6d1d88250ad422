// The internal functions that the command line uses, in addition to the public entry points.
export { stopSending } from "./bulk/run.js";
export { variables } from "./call/settings.js";
export { filePartOf } from "./files/multipart.js";
export { checkFileName } from "./files/openFile.js";
export { type RequestRules, suggestion } from "./options/validate.js";
export { mostAtOnce, outOfFiles } from "./policy/limiter.js";
export { estimatedTokens } from "./policy/rate.js";
export { attemptPolicy } from "./policy/retry.js";
export type { Lane } from "./policy/run.js";
export { rankingError } from "./ranking/check.js";
export { runBatches } from "./ranking/run.js";
export { redactorOf, redactValues } from "./redact/redact.js";
export { defaultConnections } from "./transport/node/pool.js";
export { type ClientInside, insideOf } from "./wrappers/types.js";
