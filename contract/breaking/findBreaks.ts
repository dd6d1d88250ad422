import { isDeepStrictEqual } from "node:util";
import { type Break, Breaks, type Report } from "./breaks.js";
import { compareOperations } from "./compareOperations.js";
import type { Form } from "./comparison.js";
import { type Document, endpointsOf, type Schema } from "./document.js";

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
