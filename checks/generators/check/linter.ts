import { cp } from "node:fs/promises";
import { join } from "node:path";
import { emptyFolder } from "./folders.js";
import { type LinterRow, type Result, today } from "./results.js";
import { missing } from "./toolchains.js";

/** A program that says what is wrong with a document. */
export interface Linter {
  readonly name: string;
  readonly version: string;
  /** What must be on the machine, by the names of toolchains.ts. */
  readonly needs: readonly string[];
  readonly documents: readonly string[];
  /** The command of its manual. */
  readonly command: string;
  /** Throws where it finds anything in the document, a warning included. */
  lint(folder: string, document: string, documents: string): Promise<void>;
}

/** Every published form of the contract. */
export const everyForm: readonly string[] = [
  "openapi.yaml",
  "openapi.json",
  "openapi-3.0.json",
  "openapi-client.yaml",
  "openapi-client.json",
  "openapi-client-3.0.json",
];

/** Runs one linter on one document. */
export async function checkLinter(
  linter: Linter,
  document: string,
  documents: string,
): Promise<Result<LinterRow>> {
  const { name, version, command } = linter;
  const row = { tool: name, version, document, command, findings: "none", date: today() };
  const skippedFor = await missing(linter.needs);
  if (skippedFor.length > 0) return { row: { ...row, findings: "not run" }, skippedFor, problems: [] };
  const folder = await emptyFolder(`${name} ${document}`.replaceAll(/[^\w.]+/g, "-"));
  await cp(join(documents, document), join(folder, document));
  try {
    await linter.lint(folder, document, documents);
    return { row, skippedFor, problems: [] };
  } catch (error) {
    return { row: { ...row, findings: "some" }, skippedFor, problems: [String(error)] };
  }
}
