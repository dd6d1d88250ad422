import { type Document, endpointsOf, resolve, type Schema } from "./document.js";

/** What of the old contract is deprecated by the new one, one line for each. */
export function findDeprecations(before: Document, after: Document): string[] {
  const known = placesOf(before);
  return [...placesOf(after)].flatMap(([place, isDeprecated]) =>
    isDeprecated && known.get(place) === false ? [place] : [],
  );
}

// Whether each operation, parameter, schema and field is deprecated.
function placesOf(document: Document): Map<string, boolean> {
  const places = new Map<string, boolean>();
  const add = (place: string, { deprecated }: { deprecated?: unknown }): void => {
    places.set(place, deprecated === true);
  };
  for (const { name, operation, parameters } of endpointsOf(document).values()) {
    add(`operation \`${name}\``, operation);
    for (const parameter of parameters.map((each) => resolve(document, each)))
      add(`parameter \`${parameter.name}\` of \`${name}\``, parameter);
  }
  const addFields = (schema: Schema, at: string): void => {
    const { properties = {}, items, additionalProperties } = schema;
    const inner = new Map(Object.entries(properties).map(([name, each]) => [`.${name}`, each]));
    if (items !== undefined) inner.set("[]", items);
    if (typeof additionalProperties === "object") inner.set(".*", additionalProperties);
    for (const [step, each] of inner) {
      const where = at + step;
      add(`field \`${where}\``, each);
      addFields(each, where);
    }
  };
  for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) {
    add(`schema \`${name}\``, schema);
    addFields(schema, name);
  }
  return places;
}
