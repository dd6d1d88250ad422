/** A value that JSON can say. */
export type Json = string | number | boolean | null | Json[] | JsonObject;

/** An object that JSON can say. */
export interface JsonObject {
  [key: string]: Json;
}

// Below these keys stand names that the contract chose: a header may be called x-request-id.
const mapsOfNames = /^(paths|schemas|responses|parameters|headers|properties|content|variables)$/;
const holdsValues = /^(x-.*|examples?|default|enum)$/;

/** Whether a value is an object, not a list and not null. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An object with each value replaced; a value that becomes undefined is left out. */
export function mapValues(
  object: JsonObject,
  map: (value: Json, key: string) => Json | undefined,
): JsonObject {
  const entries = Object.entries(object).flatMap(([key, value]) => {
    const mapped = map(value, key);
    return mapped === undefined ? [] : [[key, mapped] as const];
  });
  return Object.fromEntries(entries);
}

/** Replaces an object of the document, which stands at a place: a JSON Pointer. */
type MapObject = (object: JsonObject, pointer: string) => JsonObject;

/** A part of the document with each of its objects replaced, innermost first; examples and extensions stay. */
export function mapObjects(node: Json, map: MapObject, under = "", pointer = ""): Json {
  if (Array.isArray(node)) return node.map((each, index) => mapObjects(each, map, "", `${pointer}/${index}`));
  if (!isObject(node)) return node;
  const isNamed = mapsOfNames.test(under);
  const mapped = mapValues(node, (value, key) => {
    const below = `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    return !isNamed && holdsValues.test(key) ? value : mapObjects(value, map, isNamed ? "" : key, below);
  });
  return isNamed ? mapped : map(mapped, pointer);
}

/** The names of the components of one kind that a part of the document refers to, directly or through others. */
export function namesReached(part: Json, components: JsonObject, kind: string): Set<string> {
  const reached = new Set<string>();
  const visited = new Set<string>();
  const visit = (object: JsonObject): JsonObject => {
    const { $ref } = object;
    if (typeof $ref !== "string" || visited.has($ref)) return object;
    visited.add($ref);
    const [, , of = "", name = ""] = $ref.split("/");
    const target = (components[of] as JsonObject | undefined)?.[name];
    if (target === undefined) throw new Error(`${$ref} leads nowhere.`);
    if (of === kind) reached.add(name);
    mapObjects(target, visit);
    return object;
  };
  mapObjects(part, visit);
  return reached;
}
