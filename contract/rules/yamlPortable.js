import { isDeepStrictEqual } from "node:util";
import { parse } from "yaml";

// Tools read YAML 1.1 or 1.2: an unquoted date, "no" or 404 key is not the same value in each of them.
export function yamlPortable() {
  return {
    Root(_root, ctx) {
      const read = (version) => parse(ctx.location.source.body, { version, merge: false, mapAsMap: true });
      for (const path of differences(read("1.1"), read("1.2"))) {
        ctx.report({
          message: `YAML 1.1 and 1.2 read this differently, or its key is not a string: ${path.join("/")}. Put it in quotes.`,
          location: ctx.location.child(path.map(String)),
        });
      }
    },
  };
}

function differences(older, newer, path = []) {
  if (
    older instanceof Map &&
    newer instanceof Map &&
    isDeepStrictEqual([...older.keys()], [...newer.keys()])
  ) {
    return [...older].flatMap(([key, value]) =>
      typeof key === "string" ? differences(value, newer.get(key), [...path, key]) : [[...path, key]],
    );
  }
  if (Array.isArray(older) && Array.isArray(newer) && older.length === newer.length) {
    return older.flatMap((item, position) => differences(item, newer[position], [...path, position]));
  }
  return isDeepStrictEqual(older, newer) ? [] : [path];
}
