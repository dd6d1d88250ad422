// openapi.yaml with operations added, in a copy of the project.
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll } from "vitest";
import { parse, stringify } from "yaml";
import { contract, unreleased } from "./contract.js";
import { copyProject, root, run, temporaryFolder } from "./project.js";

type Node = Record<string, unknown>;

/** The seven operations that are added. */
export const added: readonly string[] = [
  "getDataset",
  "downloadDataset",
  "listEvaluators",
  "createEvaluator",
  "replaceEvaluator",
  "deleteEvaluator",
  "startEvaluator",
];

/** The contract with the operations of a file in test/all/operations. */
export async function contractWithAdded(file = "added.yaml"): Promise<Node> {
  const document = structuredClone(contract) as unknown as Node;
  const extra = parse(await readFile(path.join(root, "test/all/operations", file), "utf8")) as Node;
  const [shared] = Object.values(contract.paths).flatMap((item) => Object.values(item));
  // What every operation of the contract has.
  const { "200": _, ...errors } = shared?.responses ?? {};
  for (const item of Object.values(extra.paths as Record<string, Record<string, Node>>)) {
    for (const operation of Object.values(item)) {
      if (Array.isArray(operation)) continue;
      Object.assign(operation, {
        "x-source": "Made up",
        "x-unstated": "Not stated: all of it. Decided: made up for a test.",
        responses: { ...(operation.responses as Node), ...errors },
      });
    }
  }
  merge(document, extra);
  for (const schema of Object.values((document.components as { schemas: Record<string, Node> }).schemas))
    schema["x-source"] ??= "Made up";
  return document;
}

/** Writes that contract into a copy of the project. */
export async function addOperations(folder: string, file?: string): Promise<void> {
  const text = stringify(await contractWithAdded(file), { version: "1.1", aliasDuplicateObjects: false });
  await writeFile(path.join(folder, "openapi.yaml"), unreleased(text));
}

function merge(into: Node, from: Node): void {
  for (const [key, value] of Object.entries(from)) {
    const known = into[key];
    if (Array.isArray(known)) known.push(...(value as unknown[]));
    else if (typeof known === "object" && known !== null) merge(known as Node, value as Node);
    else into[key] = value;
  }
}

/** A copy of the project with the seven operations, and all that is generated of them. */
export function useAddedOperations(): { readonly folder: string } {
  const copy = { folder: "", remove: async () => {} };
  beforeAll(async () => {
    Object.assign(copy, await temporaryFolder());
    await copyProject(copy.folder);
    await addOperations(copy.folder);
    const node = ["--conditions=tunerank-source", "--import", "tsx", "scripts/generate/run.ts"];
    await run(process.execPath, node, { cwd: copy.folder });
  }, 120_000);
  afterAll(() => copy.remove());
  return copy;
}
