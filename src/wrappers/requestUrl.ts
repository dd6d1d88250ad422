import { invalid } from "../errors/statusError.js";
import { checkId, ownProperties } from "../options/arguments.js";
import type { QueryValue, ServiceRequest } from "./types.js";

const segmentName = "A segment of path";

/** A path as it stands in a URL. A verb is a part of the path as the caller writes it, so its colon stays. @throws StatusError */
export function encodePath(path: unknown): string {
  const segments = segmentsOf(path).map((each) => encodeURIComponent(checkId(each, segmentName)));
  return `/${segments.join("/").replaceAll("%3A", ":")}`;
}

/** A query as it stands in a URL, its question mark included; nothing when there is none. @throws StatusError */
export function encodeQuery(query: ServiceRequest["query"]): string {
  const pairs = Object.entries(ownProperties(query, "query")).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((each) => each !== undefined)
      .map((each: QueryValue) => `${encodeText(name)}=${encodeText(queryText(each, name))}`),
  );
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

/** The URL below the base URL. @throws StatusError for one that would read otherwise: it would be another operation. */
export function urlBelow(baseUrl: string, target: string): URL {
  const [path] = target.split("?");
  for (const segment of segmentsOf(path)) checkId(decode(segment), segmentName);
  const text = baseUrl + target;
  const url = new URL(text);
  const isBelow = url.origin === new URL(baseUrl).origin && url.href.startsWith(`${baseUrl}/`);
  if (isBelow && url.href === text && url.hash === "") return url;
  throw invalid("path and query cannot stand in the URL unchanged.");
}

function segmentsOf(path: unknown): string[] {
  if (typeof path === "string" && path.startsWith("/")) return path.slice(1).split("/");
  throw invalid('path must be a string that begins with "/".');
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalid(`${segmentName} is not well encoded.`);
  }
}

function queryText(value: unknown, name: string): string {
  const isValue = typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
  if (isValue) return String(value);
  throw invalid(`query.${name} must be text, a finite number, true, false or a list of these.`);
}

function encodeText(text: string): string {
  try {
    // Whoever parses the URL would encode a quote.
    return encodeURIComponent(text).replaceAll("'", "%27");
  } catch {
    throw invalid("query contains a lone surrogate.");
  }
}
