const NAMED = /^#\/components\/schemas\/[^/]+$/;
const UNDER_NOT = /\/not(\/|$)/;
const COMPOSITIONS = ["allOf", "anyOf", "oneOf"];

// Generators invent a name for an inline object, and another one after every move.
export function schemasNamed() {
  return {
    Schema(schema, ctx) {
      const { pointer } = ctx.location;
      if (UNDER_NOT.test(pointer)) return;
      const isObject = schema.type === "object" || schema.properties !== undefined;
      const isEnumeration = Array.isArray(schema.enum) && schema.enum.length > 1;
      if ((isObject || isEnumeration) && !NAMED.test(pointer)) {
        const kind = isObject ? "object" : "enumeration";
        ctx.report({
          message: `This ${kind} schema has no name. Move it to components/schemas and refer to it with $ref.`,
        });
      }
      for (const keyword of COMPOSITIONS) {
        for (const [position, member] of (schema[keyword] ?? []).entries()) {
          if (member.$ref !== undefined) continue;
          ctx.report({
            message: `A member of ${keyword} has no name. Move it to components/schemas and refer to it with $ref.`,
            location: ctx.location.child([keyword, position]),
          });
        }
      }
    },
  };
}
