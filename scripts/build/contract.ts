import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { parse, stringify } from "yaml";
import { type Document, isSafe, type RetryKind } from "../generate/document.js";
import { toClient, withOnlyValues } from "./client.js";
import type { JsonObject } from "./json.js";
import { toOpenApi30 } from "./openapi30.js";
import { overlays } from "./overlays.js";
import { mapObjects } from "./walk.js";

/** The published forms of the contract by file name: two forms, each in 3.1 (YAML, JSON) and 3.0, and overlays. */
export function publishedForms(source: string): Record<string, string> {
  const document = published(parse(source) as JsonObject);
  const strict = toStrict31(document);
  const client = toClient(document);
  const forms = {
    "openapi.yaml": toYaml(strict),
    "openapi.json": toJson(strict),
    "openapi-3.0.json": toJson(toOpenApi30(document)),
    "openapi-client.yaml": toYaml(withOnlyValues(client)),
    "openapi-client.json": toJson(withOnlyValues(client)),
    "openapi-client-3.0.json": toJson(toOpenApi30(client)),
  };
  const named = Object.entries(overlays(parse(source) as Document));
  return { ...forms, ...Object.fromEntries(named.map(([name, text]) => [`overlays/${name}`, text])) };
}

/** Writes the published forms of the contract into a folder. */
export async function writeContract(source: string, folder: string): Promise<void> {
  const files = publishedForms(await readFile(source, "utf8"));
  await mkdir(path.join(folder, "overlays"), { recursive: true });
  for (const [name, content] of Object.entries(files)) await writeFile(path.join(folder, name), content);
}

// Aliases are written out, and quoted is whatever a reader of YAML 1.1 would take for something else than a string.
function toYaml(document: JsonObject): string {
  return stringify(document, { version: "1.1", aliasDuplicateObjects: false, lineWidth: 110 });
}

// On one line, for programs: people read and compare the YAML. The package is 71 kB lighter than with a line a member.
function toJson(document: JsonObject): string {
  return `${JSON.stringify(document)}\n`;
}

/**
 * The contract without what is for its editors, the sections of a document that its readers cannot get; and with
 * `x-retry-safe` beside each `x-retry`, which says the same to whoever needs one word.
 */
function published(document: JsonObject): JsonObject {
  return mapObjects(document, ({ "x-source": _, ...others }) => {
    const { "x-retry": kind } = others;
    if (kind === undefined) return others;
    const entries = Object.entries(others).flatMap((entry) =>
      entry[0] === "x-retry" ? [entry, ["x-retry-safe", isSafe({ "x-retry": kind as RetryKind })]] : [entry],
    );
    return Object.fromEntries(entries);
  }) as JsonObject;
}

/**
 * The form for validators, mocks and servers in OpenAPI 3.1: a file's bytes are named by their media type, without a type
 * of JSON, because for a validator bytes are no string (openapi-core).
 */
function toStrict31(document: JsonObject): JsonObject {
  return mapObjects(document, (object) => {
    const { type, format, ...others } = object;
    if (type !== "string" || format !== "binary") return object;
    return { contentMediaType: "application/octet-stream", ...others };
  }) as JsonObject;
}
