import { readFile } from "node:fs/promises";
import path from "node:path";
import { writeContract } from "../../scripts/build/contract.js";
import type { JsonObject } from "../../scripts/build/json.js";
import { root, temporaryFolder } from "./project.js";

/** The contract's files as the build publishes them. */
export interface PublishedContract {
  /** One of its files, as it was written. */
  text(name: string): string;
  json(name: string): JsonObject;
}

/** Writes the contract's files into a folder of their own, and reads them. */
export async function publishContract(): Promise<PublishedContract> {
  const { folder, remove } = await temporaryFolder();
  const names = [
    "openapi.yaml",
    "openapi.json",
    "openapi-3.0.json",
    "openapi-client.yaml",
    "openapi-client.json",
    "openapi-client-3.0.json",
    "overlays/fern.yaml",
    "overlays/speakeasy.yaml",
  ];
  await writeContract(path.join(root, "openapi.yaml"), folder);
  const read = async (name: string) => [name, await readFile(path.join(folder, name), "utf8")] as const;
  const texts = new Map(await Promise.all(names.map(read)));
  await remove();
  const text = (name: string): string => {
    const found = texts.get(name);
    if (found === undefined) throw new Error(`The build does not write ${name}.`);
    return found;
  };
  return { text, json: (name) => JSON.parse(text(name)) };
}
