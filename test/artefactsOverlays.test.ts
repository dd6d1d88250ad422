import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { JsonObject } from "../scripts/build/json.js";
import { contractOperations } from "./support/contract.js";
import { publishContract } from "./support/publishedContract.js";

const published = await publishContract();

interface Overlay {
  readonly overlay: string;
  readonly actions: readonly { readonly target: string; readonly update: JsonObject }[];
}

/** Applies an overlay whose targets each name one object, as a tool would. */
function apply(overlay: Overlay, document: JsonObject): JsonObject {
  const changed = structuredClone(document);
  for (const { target, update } of overlay.actions) {
    const steps = [...target.matchAll(/\.(\w+)|\['([^']+)'\]/g)].map(
      ([, name, quoted]) => name ?? quoted ?? "",
    );
    expect(target).toBe(`$.paths['${steps[1]}'].${steps[2]}`);
    const found = steps.reduce<JsonObject>((node, step) => node[step] as JsonObject, changed);
    Object.assign(found, update);
  }
  return changed;
}

function valuesOf(document: JsonObject, extension: string): Record<string, unknown> {
  const items = Object.values(document.paths as JsonObject) as Record<string, JsonObject>[];
  const operations = items.flatMap((item) => Object.values(item));
  return Object.fromEntries(operations.map((operation) => [operation.operationId, operation[extension]]));
}

function expected(value: (retrySafe: boolean) => unknown): Record<string, unknown> {
  return Object.fromEntries(
    contractOperations.map(({ operation }) => [operation.operationId, value(operation["x-retry-safe"])]),
  );
}

describe.each(["openapi.json", "openapi-3.0.json"])("applied to %s", (name) => {
  const document = published.json(name);
  const applied = (vendor: string): JsonObject => {
    const overlay = parse(published.text(`overlays/${vendor}.yaml`)) as Overlay;
    expect(overlay.overlay).toBe("1.0.0");
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
    expect(found).toEqual(expected((retrySafe) => (retrySafe ? retries : undefined)));
    expect(found).toMatchObject({ rerankDocuments: retries, uploadDatasetFile: undefined });
  });

  test("Fern's overlay takes retries from exactly the operations that are not", () => {
    const found = valuesOf(applied("fern"), "x-fern-retries");
    expect(found).toEqual(expected((retrySafe) => (retrySafe ? undefined : { disabled: true })));
    expect(found).toMatchObject({ rerankDocuments: undefined, uploadDatasetFile: { disabled: true } });
  });

  test("neither changes anything else", () => {
    for (const [vendor, extension] of [
      ["speakeasy", "x-speakeasy-retries"],
      ["fern", "x-fern-retries"],
    ] as const) {
      const rest = JSON.parse(
        JSON.stringify(applied(vendor), (key, value) => (key === extension ? undefined : value)),
      );
      expect(rest).toEqual(document);
    }
  });
});
