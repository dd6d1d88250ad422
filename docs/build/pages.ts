import { benchmarksPart } from "./benchmarks.js";
import { codePages, errorBodyPages } from "./codes.js";
import { commandLineParts, commandOptionsPart } from "./commandLine.js";
import { Contract } from "./contract.js";
import { decisionPages } from "./decisions.js";
import { documentPages } from "./documents.js";
import { enumPages } from "./enums.js";
import { languagesPart } from "./languages.js";
import { type Page, withUnstated } from "./markdown.js";
import { conformancePart, outagePart, reasonsPart, runtimesPart } from "./measured.js";
import { optionsPart } from "./options.js";
import { referencePages } from "./reference.js";
import { revisionsPart, versionsPart } from "./revisions.js";
import { unstatedPart } from "./unstated.js";

/** The pages and parts of pages that are made of the contract and of the sources. */
export async function contractPages(): Promise<Page[]> {
  const contract = await Contract.read();
  return [
    ...(await codePages(contract)),
    ...[...enumPages(contract), ...referencePages(contract)].map(withUnstated),
    ...(await decisionPages()),
    ...(await errorBodyPages()),
    ...(await documentPages()),
    ...commandLineParts(),
    commandOptionsPart(),
    await optionsPart(),
    unstatedPart(contract),
    await versionsPart(contract),
    await revisionsPart(),
  ];
}

/** The parts that are made of what the checks and the bench have measured. */
export const measuredParts: readonly (() => Promise<Page | Page[]>)[] = [
  runtimesPart,
  languagesPart,
  conformancePart,
  benchmarksPart,
  outagePart,
  reasonsPart,
];
