import { describe, expect, test } from "vitest";
import { parse, parseDocument, visit } from "yaml";
import { toOpenApi30 } from "../../scripts/build/contract.js";
import type { JsonObject } from "../../scripts/build/json.js";
import { contract, isSafe } from "../support/contract.js";
import { publishContract } from "../support/publishedContract.js";

const published = await publishContract();

/** A small valid document around one schema. */
function documentOf(schema: unknown): JsonObject {
  return {
    openapi: "3.1.0",
    info: { title: "t", version: "1", license: { name: "MIT", url: "https://example.com" } },
    paths: {},
    components: { schemas: { Subject: schema } },
  } as JsonObject;
}

interface Uploads extends JsonObject {
  components: { schemas: { DatasetUpload: { properties: { file: JsonObject } } } };
}

/** Takes out what is for the contract's editors. */
function withoutSources(node: unknown): void {
  if (typeof node !== "object" || node === null) return;
  delete (node as JsonObject)["x-source"];
  Object.values(node).forEach(withoutSources);
}

function subjectIn30(schema: unknown): unknown {
  const { components } = toOpenApi30(documentOf(schema)) as { components: { schemas: JsonObject } };
  return components.schemas.Subject;
}

describe("openapi.yaml and openapi.json", () => {
  test.each(["1.1", "1.2"] as const)(
    "say what the contract says and which repeats are safe, read as YAML %s, but for its sources and the file's keyword",
    (version) => {
      const expected = structuredClone(contract) as unknown as JsonObject;
      withoutSources(expected);
      const { paths } = expected as unknown as typeof contract;
      for (const operation of Object.values(paths).flatMap((item) => Object.values(item)))
        Object.assign(operation, { "x-retry-safe": isSafe({ operation }) });
      const { file } = (expected as Uploads).components.schemas.DatasetUpload.properties;
      delete file.format;
      delete file.type;
      file.contentMediaType = "application/octet-stream";
      expect(parse(published.text("openapi.yaml"), { version })).toEqual(expected);
    },
  );

  test("cite nothing that readers cannot get", () => {
    for (const name of ["openapi.json", "openapi-3.0.json", "openapi-client.json"]) {
      expect(published.text(name)).not.toMatch(/x-source|interface document/i);
    }
  });

  test("the description of the whole is two lines, and the rest is elsewhere", () => {
    const { info, externalDocs } = published.json("openapi.json") as Record<string, JsonObject>;
    expect(String(info?.description).split("\n")).toHaveLength(2);
    expect(externalDocs).toHaveProperty("url");
  });

  test("say the same", () => {
    expect(published.json("openapi.json")).toEqual(parse(published.text("openapi.yaml")));
  });

  test("need no other file", () => {
    const references = [...published.text("openapi.json").matchAll(/"\$ref":"([^"]*)"/g)].map(([, to]) => to);
    expect(references.length).toBeGreaterThan(50);
    expect(references.filter((reference) => !reference?.startsWith("#/components/"))).toEqual([]);
  });

  test("hold no alias, which some readers limit", () => {
    const found: string[] = [];
    visit(parseDocument(published.text("openapi.yaml")), {
      Alias: (_key, { source }) => void found.push(source),
    });
    expect(found).toEqual([]);
  });
});

describe("openapi-3.0.json", () => {
  test("is a document of version 3.0.3 that says the same outside of schemas", () => {
    const { openapi, components, ...rest } = published.json("openapi-3.0.json") as Record<string, JsonObject>;
    const {
      openapi: _,
      components: own,
      ...expected
    } = published.json("openapi.json") as Record<string, JsonObject>;
    expect(openapi).toBe("3.0.3");
    expect(rest).toEqual(expected);
    expect({ ...components, schemas: {} }).toEqual({ ...own, schemas: {} });
    const { schemas } = components as { schemas: JsonObject };
    expect(schemas.DatasetUpload).toMatchObject({
      properties: { file: { type: "string", format: "binary" } },
    });
  });

  test("has nothing beside a $ref", () => {
    const beside: string[] = [];
    JSON.parse(published.text("openapi-3.0.json"), function (this: object, key, value) {
      if (key === "$ref" && Object.keys(this).length > 1) beside.push(value);
      return value;
    });
    expect(beside).toEqual([]);
  });

  test("keeps what is said beside a reference", () => {
    const { components } = published.json("openapi-3.0.json") as Record<string, JsonObject>;
    expect(components?.schemas).toMatchObject({
      LossConfig: {
        properties: {
          method: {
            allOf: [{ $ref: "#/components/schemas/LossMethod" }],
            description: "Which loss method the job uses.",
          },
        },
      },
    });
  });
});

describe("a bound in OpenAPI 3.0", () => {
  test.each([
    [
      { exclusiveMinimum: 0, exclusiveMaximum: 0.5 },
      { minimum: 0, exclusiveMinimum: true, maximum: 0.5, exclusiveMaximum: true },
    ],
    [
      { minimum: 1, exclusiveMinimum: 1 },
      { minimum: 1, exclusiveMinimum: true },
    ],
    [{ minimum: 2, exclusiveMinimum: 1 }, { minimum: 2 }],
    [
      { minimum: 1, exclusiveMinimum: 2 },
      { minimum: 2, exclusiveMinimum: true },
    ],
    [{ maximum: 1, exclusiveMaximum: 2 }, { maximum: 1 }],
    [
      { maximum: 2, exclusiveMaximum: 1 },
      { maximum: 1, exclusiveMaximum: true },
    ],
    [
      { minimum: 0, maximum: 9 },
      { minimum: 0, maximum: 9 },
    ],
  ])("%j becomes %j", (schema, expected) => {
    expect(subjectIn30({ type: "number", ...schema })).toEqual({ type: "number", ...expected });
  });

  test("is not looked for in values", () => {
    const schema = {
      type: "object",
      example: { exclusiveMinimum: 1, $ref: "x", title: 1 },
      "x-own": { const: 1 },
    };
    expect(subjectIn30(schema)).toEqual(schema);
  });

  test("is found wherever a schema may stand", () => {
    const narrow = { exclusiveMinimum: 1 };
    const wide = { minimum: 1, exclusiveMinimum: true };
    const around = (inner: object) => ({
      properties: { items: { items: inner }, example: inner },
      additionalProperties: inner,
      oneOf: [inner],
      not: { anyOf: [{ allOf: [inner] }] },
    });
    expect(subjectIn30(around(narrow))).toEqual(around(wide));
    const outside = (schema: object) => ({
      post: { parameters: [{ schema }], responses: { default: { content: { a: { schema } } } } },
    });
    const document = { ...documentOf({}), paths: { "/": outside(narrow) } };
    expect(toOpenApi30(document as JsonObject).paths).toEqual({ "/": outside(wide) });
  });
});

describe("what OpenAPI 3.0 cannot say is refused, not lost:", () => {
  test.each([
    ["a list of types", { type: ["string", "null"] }],
    ["const", { const: 1 }],
    ["if", { if: {} }],
    ["prefixItems", { prefixItems: [] }],
    ["unevaluatedProperties", { unevaluatedProperties: false }],
    ["contentMediaType", { type: "string", contentMediaType: "a/b" }],
    ["examples", { properties: { deep: { examples: [1] } } }],
  ])("%s in a schema", (what, schema) => {
    const message = `OpenAPI 3.0 cannot say ${what}, found at #/components/schemas/Subject`;
    expect(() => subjectIn30(schema)).toThrow(message);
  });

  test.each([
    ["webhooks", { webhooks: {} }],
    ["jsonSchemaDialect", { jsonSchemaDialect: "https://example.com" }],
    ["summary", { info: { title: "t", version: "1", summary: "s", license: {} } }],
    ["identifier", { info: { title: "t", version: "1", license: { name: "MIT", identifier: "MIT" } } }],
    ["pathItems", { components: { pathItems: {} } }],
    [
      "a description beside $ref",
      { paths: { "/": { get: { responses: { 200: { $ref: "#/x", description: "d" } } } } } },
    ],
  ])("%s in the document", (what, part) => {
    expect(() => toOpenApi30({ ...documentOf({}), ...part } as JsonObject)).toThrow(
      `OpenAPI 3.0 cannot say ${what}`,
    );
  });
});
