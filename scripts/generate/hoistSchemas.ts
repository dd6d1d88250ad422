import ts from "typescript";

const { factory } = ts;

/** Makes each member of `components.schemas` a type of its own: an editor then shows `RerankResult[]`, not a path. */
export function hoistSchemas(nodes: readonly ts.Node[]): ts.Node[] {
  const components = nodes
    .filter(ts.isInterfaceDeclaration)
    .flatMap(({ name, members }) => (name.text === "components" ? [...members] : []));
  const schemas = components.filter(ts.isPropertySignature).find(({ name }) => textOf(name) === "schemas");
  if (schemas?.type === undefined || !ts.isTypeLiteralNode(schemas.type)) {
    throw new Error("openapi-typescript made no components.schemas.");
  }
  return schemas.type.members.filter(ts.isPropertySignature).map(declaration);
}

/** Writes `NAME` for `components["schemas"]["NAME"]`. */
export function nameReference(type: ts.TypeNode): ts.TypeNode | undefined {
  if (!ts.isIndexedAccessTypeNode(type)) return undefined;
  const { indexType } = type;
  if (!ts.isLiteralTypeNode(indexType) || !ts.isStringLiteral(indexType.literal)) return undefined;
  return factory.createTypeReferenceNode(indexType.literal.text);
}

function declaration(member: ts.PropertySignature): ts.Node {
  const { name, type = factory.createKeywordTypeNode(ts.SyntaxKind.UnknownKeyword) } = member;
  const exported = [factory.createModifier(ts.SyntaxKind.ExportKeyword)];
  const node = ts.isTypeLiteralNode(type)
    ? factory.createInterfaceDeclaration(exported, textOf(name), undefined, undefined, type.members)
    : factory.createTypeAliasDeclaration(exported, textOf(name), undefined, type);
  return ts.setSyntheticLeadingComments(node, ts.getSyntheticLeadingComments(member));
}

function textOf(name: ts.PropertyName): string {
  if (ts.isIdentifier(name) || ts.isStringLiteral(name)) return name.text;
  throw new Error("A schema has a name that is no identifier.");
}
