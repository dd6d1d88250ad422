import { type Document, type Endpoint, endpointsOf, resolve } from "./document.js";

/** What a new contract has that the old one had not, one line for each. */
export function findAdditions(before: Document, after: Document): string[] {
  const known = endpointsOf(before);
  const operations = [...endpointsOf(after)].flatMap(([name, endpoint]) => {
    const old = known.get(name);
    return old === undefined
      ? [`operation \`${endpoint.name}\``]
      : addedToOperation(before, after, old, endpoint);
  });
  return [...new Set([...operations, ...addedSchemas(before, after)])];
}

function addedToOperation(before: Document, after: Document, old: Endpoint, now: Endpoint): string[] {
  const parameters = names(old.parameters.map((each) => resolve(before, each).name ?? ""));
  const added = now.parameters.flatMap((each) => {
    const { name = "" } = resolve(after, each);
    return parameters.has(name) ? [] : [`parameter \`${name}\` of \`${now.name}\``];
  });
  const statuses = Object.keys(now.operation.responses).filter(
    (each) => old.operation.responses[each] === undefined,
  );
  return [
    ...added,
    ...statuses.map((status) => `status ${status} of \`${now.name}\``),
    ...addedMediaTypes(before, after, old, now),
  ];
}

function addedMediaTypes(before: Document, after: Document, old: Endpoint, now: Endpoint): string[] {
  const statusesOf = new Map<string, string[]>();
  for (const [status, response] of Object.entries(now.operation.responses)) {
    const found = old.operation.responses[status];
    if (found === undefined) continue;
    const known = names(Object.keys(resolve(before, found).content ?? {}));
    for (const type of Object.keys(resolve(after, response).content ?? {})) {
      if (!known.has(type)) statusesOf.set(type, [...(statusesOf.get(type) ?? []), status]);
    }
  }
  return [...statusesOf].map(([type, found]) => `${type} in answers with status ${found.join(", ")}`);
}

function addedSchemas(before: Document, after: Document): string[] {
  return Object.entries(after.components?.schemas ?? {}).flatMap(([name, schema]) => {
    const old = before.components?.schemas?.[name];
    if (old === undefined) return [`schema \`${name}\``];
    const values = names((old.enum ?? []).map(String));
    const addedValues = old.enum === undefined ? [] : (schema.enum ?? []).map(String);
    return [
      ...Object.keys(schema.properties ?? {})
        .filter((property) => old.properties?.[property] === undefined)
        .map((property) => `field \`${name}.${property}\``),
      ...addedValues
        .filter((value) => !values.has(value))
        .map((value) => `value \`${value}\` of \`${name}\``),
    ];
  });
}

function names(list: readonly string[]): ReadonlySet<string> {
  return new Set(list);
}
