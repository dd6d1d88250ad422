import { codeStatuses } from "./codeStatuses.js";

// Which operation answers with which code is not documented, so none may leave one out.
export function errorsListed() {
  let expected = [];
  return {
    Root(root) {
      const errors = Object.values(codeStatuses(root)).filter((status) => status >= 400);
      expected = [...new Set(errors.map(String)), "default"];
    },
    Operation(operation, ctx) {
      const missing = expected.filter((status) => operation.responses?.[status] === undefined);
      if (missing.length === 0) return;
      ctx.report({
        message: `This operation does not list ${missing.join(", ")}. Add each with a $ref to its entry in components/responses.`,
        location: ctx.location.child("responses").key(),
      });
    },
  };
}
