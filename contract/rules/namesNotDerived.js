const DERIVED =
  /^(Request|Response|RequestBody|Body|JSONBody|Params|Parameters|Error|Errors|Result|Data|Variables)\w*$/;

// Generators name types of their own after an operation; a schema of the same name does not compile beside them.
export function namesNotDerived() {
  const operations = [];
  const schemas = [];
  return {
    Operation(operation) {
      if (operation.operationId !== undefined) operations.push(operation.operationId.toLowerCase());
    },
    NamedSchemas: {
      Schema(_schema, ctx) {
        schemas.push({ name: ctx.key, location: ctx.location });
      },
    },
    Root: {
      leave(_root, ctx) {
        for (const { name, location } of schemas) {
          const operation = operations.find((each) => name.toLowerCase().startsWith(each));
          if (operation === undefined || !DERIVED.test(name.slice(operation.length))) continue;
          ctx.report({
            message: `Generators derive "${name}" from an operation. Name the schema after what it holds.`,
            location: location.key(),
          });
        }
      },
    },
  };
}
