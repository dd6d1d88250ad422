import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { JsonObject } from "../../scripts/build/json.js";
import { contract, contractOperations, isSafe } from "../support/contract.js";
import { publishContract } from "../support/publishedContract.js";

const published = await publishContract();

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
const namesOf = ({ operation }: (typeof contractOperations)[number]) => operation["x-sdk-method"].split(".");

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
      const rest = JSON.parse(
        JSON.stringify(applied(vendor), (key, value) => (key.startsWith(`x-${vendor}-`) ? undefined : value)),
      );
      const tagged = vendor === "fern" ? rest : withTag(rest, document);
      expect(tagged).toEqual(document);
    }
  });
});

/** Gives rerank the tag that Speakeasy's overlay took. */
function withTag(changed: JsonObject, document: JsonObject): JsonObject {
  const tagsOf = (each: JsonObject) => (each as Tagged).paths["/inference/v1/rerank"].post;
  tagsOf(changed).tags = tagsOf(document).tags;
  return changed;
}

interface Tagged extends JsonObject {
  paths: { "/inference/v1/rerank": { post: { tags: string[] } } };
}
