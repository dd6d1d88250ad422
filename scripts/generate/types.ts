import { createConfig } from "@redocly/openapi-core";
import openapiTypescript, { astToString, type OpenAPI3, type OpenAPITSOptions } from "openapi-typescript";
import ts from "typescript";
import { type Document, nameOf, resolve, responseComponents, type Schema } from "./document.js";

/** Writes the public types: what openapi-typescript makes of each schema of the contract, under the schema's name. */
export async function generateTypes(document: Document): Promise<string> {
  const nodes = await openapiTypescript({ ...documented(document), paths: {} } as unknown as OpenAPI3, {
    // Linting is `npm run lint`: the older rules inside openapi-typescript do not know ours.
    redocly: await createConfig({ extends: [] }),
    defaultNonNullable: false,
    silent: true,
    postTransform: nameReference,
    transformProperty: fitProperty(document),
  });
  return hoistSchemas(nodes)
    .map((node) => ownDescriptions(plainComments(astToString(node)), document))
    .join("\n");
}

type TransformProperty = NonNullable<OpenAPITSOptions["transformProperty"]>;

const { factory } = ts;
const undefinedType = factory.createKeywordTypeNode(ts.SyntaxKind.UndefinedKeyword);
const otherStrings = factory.createParenthesizedType(
  factory.createIntersectionTypeNode([
    factory.createKeywordTypeNode(ts.SyntaxKind.StringKeyword),
    factory.createTypeLiteralNode([]),
  ]),
);

/** A response may carry values newer than this contract; a caller may say undefined, and hand over readonly lists. */
function fitProperty(document: Document): TransformProperty {
  const responses = responseComponents(document);
  return (property, schema, { path = "" }) => {
    const { modifiers, name, questionToken, type } = property;
    if (type === undefined) return property;
    // For a reference in an allOf openapi-typescript leaves out the field that a discriminator names.
    const own = isOmit(type) ? nameOf(schema as Schema) : undefined;
    const named = own ? factory.createTypeReferenceNode(own) : (nameReference(type) ?? type);
    const isResponse = responses.has(path.slice(0, path.lastIndexOf("/")));
    const isUnsent = !isResponse && (schema as Schema).readOnly === true;
    const question = isUnsent ? factory.createToken(ts.SyntaxKind.QuestionToken) : questionToken;
    const fitted = isResponse
      ? inResponse(named, resolve(document, schema as Schema))
      : inRequest(named, question !== undefined);
    return factory.updatePropertySignature(property, modifiers, name, question, fitted);
  };
}

function isOmit(type: ts.TypeNode): boolean {
  return ts.isTypeReferenceNode(type) && ts.isIdentifier(type.typeName) && type.typeName.text === "Omit";
}

function inResponse(type: ts.TypeNode, schema: Schema): ts.TypeNode {
  const isNamedEnum = ts.isTypeReferenceNode(type) && schema.enum !== undefined;
  return isNamedEnum ? factory.createUnionTypeNode([type, otherStrings]) : type;
}

function inRequest(type: ts.TypeNode, isOptional: boolean): ts.TypeNode {
  const given = ts.isArrayTypeNode(type)
    ? factory.createTypeOperatorNode(ts.SyntaxKind.ReadonlyKeyword, type)
    : type;
  return isOptional ? factory.createUnionTypeNode([given, undefinedType]) : given;
}

/** Says in each title what a reader should know: openapi-typescript writes it first, and without a tag. */
function documented(document: Document): Document {
  const schemas = mapValues(document.components.schemas, (schema) => ({
    ...titled(schema),
    ...(schema.properties && { properties: mapValues(schema.properties, titled) }),
  }));
  return { ...document, components: { ...document.components, schemas } };
}

function titled({ description = "", ...schema }: Schema): Schema {
  const bounds = [
    schema.minimum !== undefined && `at least ${schema.minimum}`,
    schema.maximum !== undefined && `at most ${schema.maximum}`,
    schema.exclusiveMinimum !== undefined && `greater than ${schema.exclusiveMinimum}`,
    schema.exclusiveMaximum !== undefined && `less than ${schema.exclusiveMaximum}`,
  ].filter((bound) => bound !== false);
  const meanings = Object.entries(schema["x-enumDescriptions"] ?? {});
  const lines = [
    description,
    ...(schema.readOnly ? ["Read-only."] : []),
    ...(bounds.length > 0 ? [`Range: ${bounds.join(", ")}.`] : []),
    ...(meanings.length > 0 ? ["", ...meanings.map(([value, text]) => `- \`${value}\`: ${text}`)] : []),
  ];
  return { ...schema, title: lines.join("\n") };
}

// openapi-typescript indents all lines but the first, which Markdown would read as code, and names the type again.
function plainComments(text: string): string {
  return text
    .replace(/^( *\*) {5}(?=\S)/gm, "$1 ")
    .replace(/^( *\*) +$/gm, "$1")
    .replace(/^ *\* @enum .*\n/gm, "");
}

// openapi-typescript adds words of its own to the field that a discriminator names, or writes them in place of its description.
function ownDescriptions(text: string, { components }: Document): string {
  const [, name = ""] = /^export interface (\w+)/m.exec(text) ?? [];
  const added = /\/\*\*\n *\* @description discriminator enum property .*\n *\*\/(?=\s+"?([^\s":?]+))/g;
  const described = text.replace(added, (_, field: string) => {
    const { description } = components.schemas[name]?.properties?.[field] ?? {};
    return `/** ${description ?? "Which variant it is."} */`;
  });
  // It adds to the document itself, too.
  return described.replaceAll(" (enum property replaced by openapi-typescript)", "");
}

function mapValues<T, R>(values: Record<string, T>, map: (value: T) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value)]));
}

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

/** Writes the types of paths and operations as openapi-fetch reads them; the schemas are those of types.ts. */
export async function generatePaths(document: Document): Promise<string> {
  const schemas = new Set<string>();
  const nodes = await openapiTypescript(document as unknown as OpenAPI3, {
    // Linting is `npm run lint`: the older rules inside openapi-typescript do not know ours.
    redocly: await createConfig({ extends: [] }),
    defaultNonNullable: false,
    silent: true,
    postTransform: (type) => schemaReference(type, schemas),
  });
  const kept = nodes
    .filter(ts.isInterfaceDeclaration)
    .filter(({ name }) => /^(paths|components|operations)$/.test(name.text))
    .map(withoutSchemas);
  const text = kept.map((node) => astToString(node)).join("\n");
  const used = [...schemas].filter((name) => new RegExp(`[^"\\w]${name}\\b`).test(text)).sort();
  return `import type { ${used.join(", ")} } from "./types.js";\n\n${describeRoots(text)}`;
}

const rootDescriptions = {
  paths: "The operations of the contract by path and method, for `tunerank/openapi-fetch`.",
  components: "The responses, parameters and headers that the operations share.",
  operations: "The operations of the contract by their ids.",
} as const;

// TypeDoc knows no `@description`.
function describeRoots(text: string): string {
  return text
    .replaceAll("@description ", "")
    .replace(
      /^export interface (\w+)/gm,
      (line, name: keyof typeof rootDescriptions) => `/** ${rootDescriptions[name]} */\n${line}`,
    );
}

/** `NAME` for `components["schemas"]["NAME"]`. */
function schemaReference(type: ts.TypeNode, names: Set<string>): ts.TypeNode | undefined {
  if (!ts.isIndexedAccessTypeNode(type) || !ts.isIndexedAccessTypeNode(type.objectType)) return undefined;
  const name = literalOf(type.indexType);
  if (name === undefined || literalOf(type.objectType.indexType) !== "schemas") return undefined;
  names.add(name);
  return factory.createTypeReferenceNode(name);
}

function literalOf(type: ts.TypeNode): string | undefined {
  return ts.isLiteralTypeNode(type) && ts.isStringLiteral(type.literal) ? type.literal.text : undefined;
}

function withoutSchemas(node: ts.InterfaceDeclaration): ts.InterfaceDeclaration {
  if (node.name.text !== "components") return node;
  const members = node.members.filter(
    ({ name }) => name !== undefined && !/^schemas$/.test((name as ts.Identifier).text),
  );
  return factory.updateInterfaceDeclaration(node, node.modifiers, node.name, undefined, undefined, members);
}
