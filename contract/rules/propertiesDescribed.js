// A reader of a generated type sees only the property: a schema behind a $ref does not describe its role there.
export function propertiesDescribed() {
  return {
    NamedSchemas: {
      Schema(schema, ctx) {
        for (const [name, property] of Object.entries(schema.properties ?? {})) {
          if (typeof property.description === "string" && property.description.trim() !== "") continue;
          ctx.report({
            message: `Property "${name}" has no description. Add one beside its other keywords; where the interface document gives no note, put the name in words.`,
            location: ctx.location.child(["properties", name]).key(),
          });
        }
      },
    },
  };
}
