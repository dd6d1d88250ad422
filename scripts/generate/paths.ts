import { createConfig } from "@redocly/openapi-core";
import openapiTypescript, { astToString, type OpenAPI3 } from "openapi-typescript";
import ts from "typescript";
import type { Document } from "./document.js";

const { factory } = ts;

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
  return `import type { ${used.join(", ")} } from "./types.js";\n\n${documented(text)}`;
}

const descriptions = {
  paths: "The operations of the contract by path and method, for `tunerank/openapi-fetch`.",
  components: "The responses, parameters and headers that the operations share.",
  operations: "The operations of the contract by their ids.",
} as const;

// TypeDoc knows no `@description`.
function documented(text: string): string {
  return text
    .replaceAll("@description ", "")
    .replace(
      /^export interface (\w+)/gm,
      (line, name: keyof typeof descriptions) => `/** ${descriptions[name]} */\n${line}`,
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
