import { defaultPathSerializer } from "openapi-fetch";
import { invalid } from "../errors/statusError.js";
import type { Multipart } from "../files/multipart.js";
import { operations, requests } from "../generated/contract.js";
import type { RequestRules } from "../options/validate.js";
import type { OperationInput, PreparedRequest } from "./types.js";

/** Turns an operation into a request; nothing is sent. @throws StatusError when that cannot be done. */
export function prepare(baseUrl: string, { operation, path, body }: OperationInput): PreparedRequest {
  const { method, path: template, maxResponseBytes } = operations[operation];
  const url = finalUrl(baseUrl + (path ? defaultPathSerializer(template, path as never) : template));
  const { contentType }: RequestRules = requests[operation];
  const form = contentType === "multipart/form-data" ? (body as Multipart) : undefined;
  return {
    method,
    url,
    body: form ?? writeJson(body),
    contentType: form?.contentType ?? contentType,
    maxResponseBytes,
  };
}

let lastUrl: URL | undefined;

// Parsing must not change it: a URL that reads differently would be another operation.
function finalUrl(text: string): URL {
  if (lastUrl?.href === text) return lastUrl;
  const url = new URL(text);
  if (url.href !== text || url.search !== "" || url.hash !== "") {
    throw invalid("An id cannot stand in the operation's URL unchanged.");
  }
  lastUrl = url;
  return url;
}

/** A body as JSON. @throws StatusError when it cannot be written so. */
export function writeJson(body: unknown, replacer?: (name: string, value: unknown) => unknown): string {
  try {
    return JSON.stringify("toJSON" in Array.prototype ? withoutPrototypes(body) : body, replacer);
  } catch (cause) {
    throw invalid(`The body cannot be written as JSON: ${(cause as Error).message}`, { cause });
  }
}

// A `toJSON` that others put on Object.prototype or Array.prototype would change what is sent.
function withoutPrototypes(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return Object.setPrototypeOf(value.map(withoutPrototypes), null);
  const { toJSON } = value as { toJSON?: unknown };
  // One of its own, such as a Date's, counts.
  if (toJSON !== (Object.prototype as { toJSON?: unknown }).toJSON) return value;
  const copy = Object.create(null);
  for (const [name, member] of Object.entries(value)) copy[name] = withoutPrototypes(member);
  return copy;
}
