import { type OperationId, operations } from "../generated/contract.js";
import { Refusal } from "./answer.js";
import type { TestOperation } from "./types.js";

/** The contract's name of each operation. */
export const operationIds: Readonly<Record<TestOperation, OperationId>> = {
  resume: "resumeReinforcementFineTuningJob",
  rerank: "rerankDocuments",
  scale: "scaleDeployment",
  upload: "uploadDatasetFile",
};

/** The operation a request asks for, and the ids in its path, not decoded. */
export interface Route {
  readonly operation: TestOperation;
  readonly ids: Readonly<Record<string, string>>;
}

const routes = Object.entries(operationIds).map(([operation, id]) => {
  const { method, path } = operations[id];
  return { operation: operation as TestOperation, method, pattern: patternOf(path) };
});

/** Finds the operation of a method and a path; the verb of a path is literal. */
export function routeOf(method: string, path: string): Route | undefined {
  for (const { operation, method: own, pattern } of routes) {
    const groups = method === own ? pattern.exec(path) : null;
    if (groups) return { operation, ids: { ...groups.groups } };
  }
  return undefined;
}

/** An id as it was before it stood in a path. */
export function decodeId(text: string | undefined): string {
  try {
    return decodeURIComponent(text ?? "");
  } catch {
    throw new Refusal("INVALID_ARGUMENT", "An id in the path is not well encoded.");
  }
}

function patternOf(path: string): RegExp {
  const literal = path.replace(/[.*+?^$()|[\]\\]/g, "\\$&");
  return new RegExp(`^${literal.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);
}
