import { isDeepStrictEqual } from "node:util";
import { compareSchemas } from "./compareSchemas.js";
import {
  affected,
  type Break,
  Breaks,
  type Comparison,
  type Form,
  type Report,
  type Whom,
} from "./comparison.js";
import {
  type Content,
  type Document,
  type Endpoint,
  endpointsOf,
  flatten,
  type Operation,
  type Parameter,
  resolve,
  type Schema,
  type SecurityRequirements,
} from "./document.js";

/** Reports what the new form of an operation breaks for those who use the old one. */
export function compareOperations(
  contracts: Omit<Comparison, "direction" | "seen">,
  old: Endpoint,
  now: Endpoint,
): void {
  const { before, after, report } = contracts;
  const compared = (direction: "request" | "answer"): Comparison => {
    return { ...contracts, direction, seen: new Set() };
  };
  if (old.operation.operationId !== now.operation.operationId) {
    report("operationId", `is now ${now.operation.operationId}`, "users of generated code");
  }
  if (!isDeepStrictEqual(old.operation.tags, now.operation.tags)) {
    const tags = now.operation.tags?.join(", ") ?? "none";
    report("tag", `was ${old.operation.tags?.join(", ") ?? "none"}, is ${tags}`, "users of generated code");
  }
  compareExtensions(old.operation, now.operation, report);
  if (isSafe(old.operation) && !isSafe(now.operation)) {
    report("x-retry-safe", "was true: a repeat was safe, and is no more", "callers");
  }
  compareSecurity(
    old.operation.security ?? before.security ?? [],
    now.operation.security ?? after.security ?? [],
    report,
  );
  compareParameters(compared("request"), old, now);
  compareBodies(compared("request"), old, now);
  compareResponses(compared("answer"), old, now);
}

// Revisions before 0.2.0 state none of them.
function compareExtensions(old: Operation, now: Operation, report: Report): void {
  const shown = (value: unknown): string =>
    typeof value === "string" ? value : (JSON.stringify(value) ?? "gone");
  const compare = (keyword: keyof Operation, whom: Whom): void => {
    const [before, after] = [old[keyword], now[keyword]];
    if (before === undefined || isDeepStrictEqual(before, after)) return;
    report(keyword, `was ${shown(before)}, is ${shown(after)}`, whom);
  };
  compare("x-sdk-method", "users of generated code");
  compare("x-retry", "certified clients");
  compare("x-timeout-ms", isShorter(old, now) ? "callers" : "certified clients");
  const [before = 0, after = 0] = [old, now].map((each) => each["x-max-response-bytes"]);
  compare("x-max-response-bytes", after < before ? "readers of answers" : "certified clients");
}

// A call that had the time it needed may now be ended.
function isShorter(old: Operation, now: Operation): boolean {
  const partsOf = ({ "x-timeout-ms": time = 0 }: Operation) =>
    typeof time === "number" ? { baseMs: time, bytesPerSecond: Infinity } : time;
  const [before, after] = [partsOf(old), partsOf(now)];
  return after.baseMs < before.baseMs || after.bytesPerSecond > before.bytesPerSecond;
}

// The published documents say it in one word, openapi.yaml by the kind that the word is derived from.
function isSafe({ "x-retry-safe": safe, "x-retry": kind = "" }: Operation): boolean {
  return safe ?? ["read", "set"].includes(kind);
}

// What satisfied the old contract has to satisfy the new one.
function compareSecurity(old: SecurityRequirements, now: SecurityRequirements, report: Report): void {
  const open: SecurityRequirements = [{}];
  const taken = now.length === 0 ? open : now;
  for (const credentials of old.length === 0 ? open : old) {
    const isEnough = taken.some((needed) =>
      Object.entries(needed).every(
        ([scheme, scopes]) =>
          scopes.every((scope) => credentials[scheme]?.includes(scope) ?? false) &&
          credentials[scheme] !== undefined,
      ),
    );
    const named = Object.keys(credentials).join(" with ") || "no credentials";
    if (!isEnough) report("security", `${named} will not do any more`, "callers");
  }
}

function parametersOf(document: Document, endpoint: Endpoint): Map<string, Parameter> {
  const parameters = endpoint.parameters.map((parameter) => resolve(document, parameter));
  return new Map(parameters.map((parameter) => [`${parameter.in} parameter ${parameter.name}`, parameter]));
}

function compareParameters(comparison: Comparison, old: Endpoint, now: Endpoint): void {
  const before = parametersOf(comparison.before, old);
  const after = parametersOf(comparison.after, now);
  for (const [where, parameter] of before) {
    const found = after.get(where);
    if (found === undefined) {
      comparison.report(where, "is gone", "callers");
      continue;
    }
    for (const keyword of ["style", "explode"] as const) {
      if (parameter[keyword] === found[keyword]) continue;
      comparison.report(where, `${keyword} is now ${found[keyword] ?? "the default"}`, "callers");
    }
    if (parameter.required && !found.required)
      comparison.report(where, "may now be left out", "users of generated code");
    compareSchemas(comparison, parameter.schema ?? {}, found.schema ?? {}, where);
  }
  for (const [where, parameter] of after) {
    if (!parameter.required || before.get(where)?.required) continue;
    comparison.report(where, before.has(where) ? "is now required" : "is new and required", "callers");
  }
}

function compareBodies(comparison: Comparison, old: Endpoint, now: Endpoint): void {
  const before = old.operation.requestBody && resolve(comparison.before, old.operation.requestBody);
  const after = now.operation.requestBody && resolve(comparison.after, now.operation.requestBody);
  if (before !== undefined && after === undefined) {
    comparison.report("request body", "is gone", "callers");
    return;
  }
  if (after?.required && !before?.required) {
    comparison.report("request body", "is now required", "callers");
  }
  // Its argument, which was one of every call, may now be missing from signatures.
  if (before?.required && !after?.required) {
    comparison.report("request body", "may now be left out", "users of generated code");
  }
  compareContent(comparison, before?.content ?? {}, after?.content ?? {}, "request");
}

function compareContent(comparison: Comparison, before: Content, after: Content, at: string): void {
  for (const [type, media] of Object.entries(before)) {
    const where = `${at} ${type}`;
    const found = after[type];
    if (found === undefined) {
      comparison.report(where, "is gone", affected(comparison));
      continue;
    }
    if (!isDeepStrictEqual(encodingOf(comparison.before, media), encodingOf(comparison.after, found))) {
      comparison.report(where, "its encoding changed", affected(comparison));
    }
    compareSchemas(comparison, media.schema ?? {}, found.schema ?? {}, where);
  }
}

// A file is application/octet-stream by itself: to write that out changes nothing.
function encodingOf(document: Document, { schema = {}, encoding = {} }: Content[string]): object {
  const { properties = {} } = flatten(document, schema);
  const told = Object.entries(encoding).filter(([name, { contentType, ...others }]) => {
    const part = properties[name];
    if (part === undefined) return false;
    const isFile = flatten(document, part).format === "binary";
    return !(isFile && contentType === "application/octet-stream" && Object.keys(others).length === 0);
  });
  return Object.fromEntries(told);
}

function compareResponses(comparison: Comparison, old: Endpoint, now: Endpoint): void {
  for (const [status, response] of Object.entries(old.operation.responses)) {
    const found = now.operation.responses[status];
    if (found === undefined) {
      comparison.report(`status ${status}`, "is gone", "readers of answers");
      continue;
    }
    const before = resolve(comparison.before, response);
    const after = resolve(comparison.after, found);
    compareHeaders(comparison, before.headers ?? {}, after.headers ?? {}, `status ${status}`);
    compareContent(comparison, before.content ?? {}, after.content ?? {}, `status ${status}`);
  }
  // Tools that have one type for all successes count it among them.
  if (comparison.form === "clients" && now.operation.responses.default && !old.operation.responses.default)
    comparison.report("status default", "is new", "users of generated code");
}

function compareHeaders(
  comparison: Comparison,
  before: Record<string, Parameter>,
  after: Record<string, Parameter>,
  at: string,
): void {
  for (const [name, header] of Object.entries(before)) {
    const where = `${at} header ${name}`;
    const found = after[name];
    if (found === undefined) {
      comparison.report(where, "is gone", "readers of answers");
      continue;
    }
    const old = resolve(comparison.before, header);
    const now = resolve(comparison.after, found);
    if (old.required && !now.required) {
      comparison.report(where, "is no longer always there", "readers of answers");
    }
    compareSchemas(comparison, old.schema ?? {}, now.schema ?? {}, where);
  }
}

/** How a new contract breaks what was built on the old one; of the form for clients, also what makes them refuse more. */
export function findBreaks(before: Document, after: Document, form: Form = "strict"): Break[] {
  const breaks = new Breaks();
  const everywhere = breaks.reporter();
  compareServers(before, after, everywhere);
  compareSecuritySchemes(before, after, everywhere);
  compareCodes(before, after, everywhere);
  const now = endpointsOf(after);
  for (const [name, endpoint] of endpointsOf(before)) {
    const found = now.get(name);
    const report = breaks.reporter(endpoint.name);
    if (found === undefined) report(name, "is gone", "callers");
    else compareOperations({ before, after, form, report }, endpoint, found);
  }
  compareNames(before, after, breaks);
  return breaks.list();
}

function compareServers(before: Document, after: Document, report: Report): void {
  const urls = new Set(after.servers?.map(({ url }) => url));
  for (const { url } of before.servers ?? []) {
    if (!urls.has(url)) report(`server ${url}`, "is gone", "callers");
  }
}

function compareSecuritySchemes(before: Document, after: Document, report: Report): void {
  const essence = (scheme: unknown): unknown[] => {
    const { type, scheme: name, in: place, name: header, openIdConnectUrl, flows } = Object(scheme);
    return [type, name, place, header, openIdConnectUrl, flows];
  };
  for (const [name, scheme] of Object.entries(before.components?.securitySchemes ?? {})) {
    const found = after.components?.securitySchemes?.[name];
    if (isDeepStrictEqual(essence(scheme), essence(found))) continue;
    report(`security scheme ${name}`, "credentials are sent in another way", "callers");
  }
}

// The HTTP status of a code says what an answer without a name means.
function compareCodes(before: Document, after: Document, report: Report): void {
  for (const [name, schema] of Object.entries(before.components?.schemas ?? {})) {
    const statuses = schema["x-http-statuses"] as Record<string, number> | undefined;
    const now = after.components?.schemas?.[name]?.["x-http-statuses"] as typeof statuses;
    for (const [code, status] of Object.entries(statuses ?? {})) {
      if (now?.[code] === status) continue;
      const what = now?.[code] === undefined ? "has no HTTP status" : `was ${status}, is ${now[code]}`;
      report(`${name} ${code}`, what, "readers of answers");
    }
  }
}

// Generated code takes the names of its types and constants from here.
function compareNames(before: Document, after: Document, breaks: Breaks): void {
  const report = breaks.reporter();
  const renamed = new Set(breaks.list().map(({ where }) => where));
  for (const [name, schema] of Object.entries(before.components?.schemas ?? {})) {
    const found = after.components?.schemas?.[name];
    if (found !== undefined) {
      for (const key of ["x-enum-varnames", "x-enumNames"])
        compareConstants(name, key, schema, found, report);
    } else if (!renamed.has(`schema ${name}`)) report(`schema ${name}`, "is gone", "users of generated code");
  }
}

function compareConstants(name: string, key: string, before: Schema, after: Schema, report: Report): void {
  const old = before[key] as string[] | undefined;
  const now = after[key] as string[] | undefined;
  if (old === undefined) return;
  if (now === undefined) {
    report(name, `its constants have no names in ${key} any more`, "users of generated code");
    return;
  }
  for (const [position, value] of (before.enum ?? []).entries()) {
    const there = after.enum?.indexOf(value) ?? -1;
    if (there < 0 || old[position] === now[there]) continue;
    report(`${name} ${value}`, `its constant is now ${now[there] ?? "unnamed"}`, "users of generated code");
  }
}
