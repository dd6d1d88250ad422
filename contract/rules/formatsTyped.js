const TYPES_OF_FORMAT = {
  int32: ["integer"],
  int64: ["integer", "string"],
  float: ["number"],
  double: ["number"],
  "date-time": ["string"],
  uuid: ["string"],
  binary: ["string"],
};

// Without a size generators take 32 bits, where a time in milliseconds does not fit. An unknown format means nothing.
export function formatsTyped() {
  return {
    Schema(schema, ctx) {
      if (schema.format === undefined) {
        if (schema.type !== "integer") return;
        ctx.report({
          message:
            'An integer without a size is 32 bits to generators. Write "format: int64" where the size is open.',
          location: ctx.location.child("type"),
        });
        return;
      }
      const types = TYPES_OF_FORMAT[schema.format];
      if (types?.includes(schema.type)) return;
      const advice = types
        ? `Write "type: ${types.join('" or "')}" with "format: ${schema.format}".`
        : `Use one of ${Object.keys(TYPES_OF_FORMAT).join(", ")}, or leave the format out.`;
      ctx.report({
        message: `"format: ${schema.format}" does not fit "type: ${schema.type}". ${advice}`,
        location: ctx.location.child("format"),
      });
    },
  };
}
