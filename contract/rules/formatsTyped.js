const TYPE_OF_FORMAT = {
  int32: "integer",
  int64: "string",
  float: "number",
  double: "number",
  "date-time": "string",
  uuid: "string",
  binary: "string",
};

// JavaScript rounds integers above 2^53, so int64 travels as a string; an unknown format means nothing to a generator.
export function formatsTyped() {
  return {
    Schema(schema, ctx) {
      if (schema.format === undefined) return;
      const type = TYPE_OF_FORMAT[schema.format];
      if (type === schema.type) return;
      const advice = type
        ? `Write "type: ${type}" with "format: ${schema.format}".`
        : `Use one of ${Object.keys(TYPE_OF_FORMAT).join(", ")}, or leave the format out.`;
      ctx.report({
        message: `"format: ${schema.format}" does not fit "type: ${schema.type}". ${advice}`,
        location: ctx.location.child("format"),
      });
    },
  };
}
