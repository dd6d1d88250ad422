// The operations as the docs name them. A guide that a person wrote for one says so at its top; samples bear its name.
import { readdirSync, readFileSync } from "node:fs";
import { shortName } from "../../scripts/generate/document.js";
import type { OperationId } from "../../src/generated/contract.js";
import { descriptions } from "../../src/generated/descriptions.js";

/** An operation of the contract, with its page of the HTTP reference. */
export interface OperationPage {
  readonly id: string;
  /** Below `reference/`: its guide's name, else its id. */
  readonly page: string;
  readonly title: string;
  readonly hasGuide: boolean;
}

const folder = new URL("../guide/", import.meta.url);

const guides: ReadonlyMap<string, string> = new Map(
  readdirSync(folder).flatMap((file) => {
    const [, matter = ""] = readFileSync(new URL(file, folder), "utf8").split("---\n");
    const [, id] = /^operation: (\w+)$/m.exec(matter) ?? [];
    return id === undefined ? [] : [[id, file.replace(/\.md$/, "")] as const];
  }),
);

/** Every operation in the contract's order. */
export const operationPages: readonly OperationPage[] = (Object.keys(descriptions) as OperationId[]).map(
  (id) => {
    const guide = guides.get(id);
    const title = guide === undefined ? descriptions[id].summary : shortName(descriptions[id].method);
    return { id, page: guide ?? id, title: capital(title), hasGuide: guide !== undefined };
  },
);

/** The page of an operation. */
export function pageOf(id: string): OperationPage {
  const found = operationPages.find((each) => each.id === id);
  if (found === undefined) throw new Error(`src/generated has no operation ${id}: run \`npm run generate\`.`);
  return found;
}

const numbers = "no one two three four five six seven eight nine ten".split(" ");

/** What the operations do, in a few words: "four operations: resume a job, ...". */
export function whatTheyDo(): string {
  const summaries = Object.values(descriptions).map(({ summary }) => summary);
  const said = summaries.map((text) => text.charAt(0).toLowerCase() + text.slice(1)).join(", ");
  return `${numbers[summaries.length] ?? summaries.length} operations: ${said}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
