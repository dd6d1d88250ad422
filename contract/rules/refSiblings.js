const ALLOWED = new Set(["$ref", "description"]);

// OpenAPI 3.0 ignores what stands beside a $ref, so only what may be lost without harm is allowed there.
export function refSiblings() {
  return {
    ref(reference, ctx) {
      for (const keyword of Object.keys(reference)) {
        if (ALLOWED.has(keyword)) continue;
        ctx.report({
          message: `"${keyword}" stands beside a $ref, where OpenAPI 3.0 ignores it. Write "allOf: [$ref]" and put "${keyword}" beside the allOf.`,
          location: ctx.location.child(keyword).key(),
        });
      }
    },
  };
}
