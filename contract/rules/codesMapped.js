// Retry decisions and error classes are generated from this map, so a code without a status would be lost.
export function codesMapped() {
  return {
    NamedSchemas: {
      Schema(schema, ctx) {
        if (ctx.key !== "Code") return;
        const statuses = schema["x-http-statuses"] ?? {};
        const isStatus = (status) => Number.isInteger(status) && status >= 100 && status <= 599;
        const sameCodes = Object.keys(statuses).join() === (schema.enum ?? []).join();
        if (sameCodes && Object.values(statuses).every(isStatus)) return;
        ctx.report({
          message: "Give x-http-statuses of Code one HTTP status for each value of enum, in the same order.",
          location: ctx.location.child(statuses === schema["x-http-statuses"] ? "x-http-statuses" : "enum"),
        });
      },
    },
  };
}
