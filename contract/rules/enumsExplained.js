const IDENTIFIER = /^[A-Za-z][A-Za-z0-9]*$/;

function isNameIn(enumeration, name) {
  return IDENTIFIER.test(name) && name.startsWith(enumeration) && name.length > enumeration.length;
}

// Each generator reads another one of these extensions, so all of them have to say the same.
export function enumsExplained() {
  return {
    NamedSchemas: {
      Schema(schema, ctx) {
        if (!Array.isArray(schema.enum)) return;
        const report = (keyword, message) =>
          ctx.report({
            message,
            location: ctx.location.child(schema[keyword] === undefined ? "enum" : keyword),
          });
        const names = schema["x-enumNames"] ?? [];
        const texts = schema["x-enum-descriptions"] ?? [];
        const textOf = schema["x-enumDescriptions"] ?? {};

        if (names.length !== schema.enum.length) {
          report("x-enumNames", "Give x-enumNames one name for each value of enum, in the same order.");
        } else if (new Set(names).size !== names.length || !names.every((name) => isNameIn(ctx.key, name))) {
          report(
            "x-enumNames",
            `Make each name in x-enumNames a different identifier that begins with ${ctx.key}: constants of Go share one package.`,
          );
        }
        if (Object.keys(textOf).join() !== schema.enum.join()) {
          report(
            "x-enumDescriptions",
            "Give x-enumDescriptions one key for each value of enum, in the same order.",
          );
        }
        if (
          texts.length !== schema.enum.length ||
          schema.enum.some((value, i) => texts[i] !== textOf[value])
        ) {
          report(
            "x-enum-descriptions",
            "Make x-enum-descriptions repeat the texts of x-enumDescriptions, in the order of enum. Use aliases.",
          );
        }
      },
    },
  };
}
