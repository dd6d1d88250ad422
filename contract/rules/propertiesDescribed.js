const FILLER = new Set(["a", "an", "the", "of", "it", "its", "this"]);

// A reader of a generated type sees only the property: a schema behind a $ref does not describe its role there.
export function propertiesDescribed() {
  return {
    NamedSchemas: {
      Schema(schema, ctx) {
        for (const [name, property] of Object.entries(schema.properties ?? {})) {
          const problem = problemOf(name, ctx.key, property.description);
          if (problem === undefined) continue;
          ctx.report({
            message: `${problem} Say what it means; where nothing says so, say what is not documented ("The unit is not documented.").`,
            location: ctx.location.child(["properties", name]).key(),
          });
        }
      },
    },
  };
}

function problemOf(name, owner, description) {
  if (typeof description !== "string" || description.trim() === "") {
    return `Property "${name}" has no description.`;
  }
  const known = new Set([...wordsOf(name), ...wordsOf(owner), ...FILLER]);
  if (wordsOf(description).some((word) => !known.has(word))) return undefined;
  return `The description of "${name}" only repeats its name.`;
}

// "createdAt", "created_at" and "Created at" are the same words.
function wordsOf(text) {
  return (
    text
      .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? []
  );
}
