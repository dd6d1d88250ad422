import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { parse, stringify } from "yaml";
import type { Document } from "../generate/document.js";
import type { JsonObject } from "./json.js";
import { toOpenApi30 } from "./openapi30.js";
import { retryOverlays } from "./overlays.js";

/** Writes the contract into a folder as it is published: 3.1 in YAML and JSON, 3.0 in JSON, and its overlays. */
export async function writeContract(source: string, folder: string): Promise<void> {
  const text = await readFile(source, "utf8");
  const document = parse(text) as JsonObject;
  const overlays = Object.entries(retryOverlays(parse(text) as Document));
  const files = {
    "openapi.yaml": toYaml(document),
    "openapi.json": toJson(document),
    "openapi-3.0.json": toJson(toOpenApi30(document)),
    ...Object.fromEntries(overlays.map(([name, overlay]) => [`overlays/${name}`, overlay])),
  };
  await mkdir(path.join(folder, "overlays"), { recursive: true });
  for (const [name, content] of Object.entries(files)) await writeFile(path.join(folder, name), content);
}

// Aliases are written out, and quoted is whatever a reader of YAML 1.1 would take for something else than a string.
function toYaml(document: JsonObject): string {
  return stringify(document, { version: "1.1", aliasDuplicateObjects: false, lineWidth: 110 });
}

function toJson(document: JsonObject): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}
