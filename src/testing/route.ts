import { type OperationId, operations } from "../generated/contract.js";
import { Refusal } from "./answer.js";

/** The operation a request asks for, and the ids in its path, not decoded. */
export interface Route {
  readonly operation: OperationId;
  readonly ids: Readonly<Record<string, string>>;
}

// The path with the most words of its own first: that of a verb, before one whose last id could hold the verb.
const routes = Object.entries(operations)
  .map(([id, { method, path }]) => ({ operation: id as OperationId, method, path, ...patternOf(path) }))
  .sort((a, b) => b.literal - a.literal);

/** Finds the operation of a method and a path; the verb of a path is literal. */
export function routeOf(method: string, path: string): Route | undefined {
  const template = routes.find(({ pattern }) => pattern.test(path))?.path;
  const route = routes.find((each) => each.path === template && each.method === method);
  return route && { operation: route.operation, ids: { ...route.pattern.exec(path)?.groups } };
}

/** An id as it was before it stood in a path. */
export function decodeId(text: string | undefined): string {
  try {
    return decodeURIComponent(text ?? "");
  } catch {
    throw new Refusal("INVALID_ARGUMENT", "An id in the path is not well encoded.");
  }
}

function patternOf(path: string): { pattern: RegExp; literal: number } {
  const literal = path.replace(/[.*+?^$()|[\]\\]/g, "\\$&");
  return {
    pattern: new RegExp(`^${literal.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`),
    literal: path.replace(/\{\w+\}/g, "").length,
  };
}
