import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { parse, parseDocument, visit } from "yaml";
import { toOpenApi30 } from "../../scripts/build/contract.js";
import type { JsonObject } from "../../scripts/build/json.js";
import { contract, contractOperations, isSafe } from "../support/contract.js";
import { root } from "../support/project.js";
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
      expect(published.json("openapi.json")).toEqual(expected);
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

describe("EXTENSIONS.md", () => {
  /** Every value that the published contract gives to each extension. */
  const used = new Map<string, unknown[]>();
  for (const name of ["openapi.json", "openapi-client.json"]) {
    JSON.stringify(published.json(name), (key, value) => {
      if (key.startsWith("x-") && key !== "x-request-id") used.set(key, [...(used.get(key) ?? []), value]);
      return value;
    });
  }

  const text = readFileSync(path.join(root, "contract/EXTENSIONS.md"), "utf8");
  const sections = text
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [name = ""] = section.split("\n");
      const [, example = ""] = /```yaml\n(.*?)```/s.exec(section) ?? [];
      return { name, example: parse(example) as Record<string, unknown> };
    });

  test("EXTENSIONS.md describes exactly the extensions that the contract uses", () => {
    expect(used.size).toBe(16);
    expect(sections.map(({ name }) => name).sort()).toEqual([...used.keys()].sort());
  });

  // A revision in an example may be an earlier one.
  const lasting = sections.filter(({ name }) => name !== "x-contract-revision");
  test.each(lasting)("the example of $name is one of the contract's own", ({ name, example }) => {
    expect(Object.keys(example)).toEqual([name]);
    expect(used.get(name)).toContainEqual(example[name]);
  });
});

describe("the overlays", () => {
  interface Overlay {
    readonly overlay: string;
    readonly info: JsonObject;
    readonly actions: readonly {
      readonly target: string;
      readonly update?: JsonObject;
      readonly remove?: true;
    }[];
  }

  /** Applies an overlay whose targets each name one object, as a tool would. */
  function apply(overlay: Overlay, document: JsonObject): JsonObject {
    const changed = structuredClone(document);
    for (const { target, update, remove } of overlay.actions) {
      const steps = [...target.matchAll(/\.(\w+)|\['([^']+)'\]/g)].map(
        ([, name, quoted]) => name ?? quoted ?? "",
      );
      const key = remove ? `.${steps[3]}` : "";
      expect(target).toBe(`$.paths['${steps[1]}'].${steps[2]}${key}`);
      const found = steps.slice(0, 3).reduce<JsonObject>((node, step) => node[step] as JsonObject, changed);
      expect(found).toBeTypeOf("object");
      if (remove) delete found[steps[3] ?? ""];
      else Object.assign(found, update);
    }
    return changed;
  }

  function valuesOf(document: JsonObject, extension: string): Record<string, unknown> {
    const items = Object.values(document.paths as JsonObject) as Record<string, JsonObject>[];
    const operations = items.flatMap((item) => Object.values(item));
    return Object.fromEntries(operations.map((operation) => [operation.operationId, operation[extension]]));
  }

  /** A value of each operation, by its id. */
  function expected(value: (each: (typeof contractOperations)[number]) => unknown): Record<string, unknown> {
    return Object.fromEntries(contractOperations.map((each) => [each.operation.operationId, value(each)]));
  }

  /** The method of our own client, such as `["datasets", "upload"]`: a group, unless it stands on the client itself. */
  const namesOf = ({ operation }: (typeof contractOperations)[number]) =>
    operation["x-sdk-method"].split(".");

  const documents = ["openapi.json", "openapi-3.0.json", "openapi-client.json", "openapi-client-3.0.json"];

  describe.each(documents)("applied to %s", (name) => {
    const document = published.json(name);
    const applied = (vendor: string): JsonObject => {
      const overlay = parse(published.text(`overlays/${vendor}.yaml`)) as Overlay;
      expect(overlay.overlay).toBe("1.0.0");
      expect(overlay.info["x-contract-revision"]).toBe(contract.info["x-contract-revision"]);
      return apply(overlay, document);
    };

    test("Speakeasy's overlay gives retries to exactly the operations that are safe to repeat", () => {
      const retries = {
        strategy: "backoff",
        backoff: { initialInterval: 250, maxInterval: 8000, maxElapsedTime: 30_000, exponent: 2 },
        statusCodes: ["408", "429", "502", "503", "504"],
        retryConnectionErrors: true,
      };
      const found = valuesOf(applied("speakeasy"), "x-speakeasy-retries");
      expect(found).toEqual(expected((each) => (isSafe(each) ? retries : undefined)));
      expect(found).toMatchObject({ rerankDocuments: retries, uploadDatasetFile: undefined });
    });

    test("Fern's overlay takes retries from exactly the operations that are not", () => {
      const found = valuesOf(applied("fern"), "x-fern-retries");
      expect(found).toEqual(expected((each) => (isSafe(each) ? undefined : { disabled: true })));
      expect(found).toMatchObject({ rerankDocuments: undefined, uploadDatasetFile: { disabled: true } });
    });

    test("both name the methods as our own client does", () => {
      const fern = applied("fern");
      const groups = valuesOf(fern, "x-fern-sdk-group-name");
      expect(groups).toEqual(expected((each) => namesOf(each).slice(0, -1)));
      expect(groups).toMatchObject({ rerankDocuments: [], uploadDatasetFile: ["datasets"] });
      const methods = expected((each) => namesOf(each).at(-1));
      expect(methods).toMatchObject({ rerankDocuments: "rerank", uploadDatasetFile: "upload" });
      expect(valuesOf(fern, "x-fern-sdk-method-name")).toEqual(methods);
      const speakeasy = applied("speakeasy");
      expect(valuesOf(speakeasy, "x-speakeasy-name-override")).toEqual(methods);
      expect(valuesOf(speakeasy, "x-speakeasy-group")).toEqual(expected((each) => namesOf(each).at(-2)));
      // Without a group and a tag a method stands on the client itself.
      expect(valuesOf(speakeasy, "tags").rerankDocuments).toBeUndefined();
    });

    test("neither changes anything else", () => {
      for (const vendor of ["speakeasy", "fern"]) {
        const isOwn = (key: string) => key.startsWith(`x-${vendor}-`);
        const rest = JSON.parse(
          JSON.stringify(applied(vendor), (key, value) => (isOwn(key) ? undefined : value)),
        );
        // Speakeasy's takes the tag of a method that stands on the client itself.
        if (vendor === "speakeasy") rest.paths["/inference/v1/rerank"].post.tags = ["Rerank"];
        expect(rest).toEqual(document);
      }
    });
  });
});
