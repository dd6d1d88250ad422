import { isDeepStrictEqual } from "node:util";
import { type Break, Breaks } from "./breaks.js";
import { compareData } from "./compareData.js";
import type { Document } from "./document.js";
import { findAdditions } from "./findAdditions.js";
import { findBreaks } from "./findBreaks.js";
import { findDeprecations } from "./findDeprecations.js";

/** All that a revision of the contract says. */
export interface Revision {
  readonly contract: Document;
  /** The form that clients are generated from. */
  readonly clients: Document;
  /** The conformance data by file name. */
  readonly data: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface Changes {
  readonly breaks: readonly Break[];
  readonly additions: readonly string[];
  readonly deprecations: readonly string[];
}

/** What a new document breaks, adds and deprecates. */
export function findDocumentChanges(before: Document, after: Document): Changes {
  return {
    breaks: findBreaks(before, after),
    additions: findAdditions(before, after),
    deprecations: findDeprecations(before, after),
  };
}

/** What a new revision changes: its document, its form for clients and its data. */
export function findChanges(before: Revision, after: Revision): Changes {
  const { breaks, additions, deprecations } = findDocumentChanges(before.contract, after.contract);
  const made = findBreaks(before.clients, after.clients, "clients").filter(
    (found) => !breaks.some((known) => isDeepStrictEqual(known, found)),
  );
  const data = new Breaks();
  const rows = Object.entries(before.data).flatMap(([file, old]) =>
    compareData(file, old, after.data[file], data.reporter()),
  );
  const files = Object.keys(after.data).filter((file) => !(file in before.data));
  return {
    breaks: [...breaks, ...together(made), ...data.list()],
    additions: [...additions, ...rows, ...files.map((file) => `conformance data \`${file}\``)],
    deprecations,
  };
}

// The making of the form treats all schemas alike: what became of several in the same way is told once.
function together(breaks: readonly Break[]): Break[] {
  const alike = new Map<string, Break[]>();
  for (const found of breaks) {
    const [, way = ""] = /(, in \w+)$/.exec(found.where) ?? [];
    const key = JSON.stringify([way, found.what, found.whom, found.operations]);
    alike.set(key, [...(alike.get(key) ?? []), { ...found, where: found.where.replace(way, "") }]);
  }
  return [...alike].flatMap(([key, [first, ...others]]) => {
    if (first === undefined) return [];
    const names = [first, ...others].map(({ where }) => where).join(", ");
    return [{ ...first, where: `the form for clients, ${names}${JSON.parse(key)[0]}` }];
  });
}
