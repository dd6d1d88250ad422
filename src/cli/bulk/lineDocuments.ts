// The documents of a line: whichever fields they are in, and whether they are texts or objects that have one.
import type { Id } from "../checkpoints/ids.js";
import { isObject } from "../input/lineContent.js";
import { named } from "../terminal.js";

type Fields = Readonly<Record<string, unknown>>;

export interface DocumentsFormat {
  readonly documentsField: string;
  /** Where the documents of several fields are one list: these fields, in this order. */
  readonly joinedFields?: readonly string[] | undefined;
  /** Of documents that are objects: the field that holds the text. */
  readonly textField?: string | undefined;
  /** Of documents that are objects: the field that holds what a row names them by. */
  readonly documentIdField?: string | undefined;
}

/** What is sent as the documents of a line: a list, or whatever is there in its place. */
export function lineDocuments(fields: Fields, format: DocumentsFormat): unknown {
  const { textField } = format;
  const all = foundIn(fields, format);
  if (textField === undefined || !Array.isArray(all)) return all;
  return all.map((document) => (isObject(document) ? ownField(document, textField) : document));
}

/** The ids of the documents of a line that was read, where the rows have them. */
export function lineDocumentIds(fields: Fields, format: DocumentsFormat): readonly Id[] | undefined {
  const { documentIdField } = format;
  const all = foundIn(fields, format);
  if (documentIdField === undefined || !Array.isArray(all)) return undefined;
  return all.map((document) => ownField(document, documentIdField) as Id);
}

/** Why documents are not what the command line says. What is no list at all, the client refuses. */
export function documentsProblem(fields: Fields, format: DocumentsFormat): string | undefined {
  if (format.textField === undefined) return undefined;
  const all = foundIn(fields, format);
  if (!Array.isArray(all)) return undefined;
  for (const [index, document] of all.entries()) {
    const problem = problemOf(document, format);
    if (problem !== undefined) return `documents[${index}] ${problem}`;
  }
  return undefined;
}

function problemOf(
  document: unknown,
  { textField = "", documentIdField }: DocumentsFormat,
): string | undefined {
  if (!isObject(document) && typeof document !== "string") return "is no object and no text.";
  if (isObject(document) && typeof ownField(document, textField) !== "string")
    return `has no text in the field ${named(textField)}, which --text-field names.`;
  if (documentIdField === undefined) return undefined;
  const id = isObject(document) ? ownField(document, documentIdField) : undefined;
  if (typeof id === "string" || Number.isSafeInteger(id)) return undefined;
  return `has no id that is text or a whole number in the field ${named(documentIdField)}, which --document-id-field names.`;
}

function foundIn(fields: Fields, { documentsField, joinedFields }: DocumentsFormat): unknown {
  // The comma may be part of one field's name.
  if (joinedFields === undefined || Object.hasOwn(fields, documentsField))
    return ownField(fields, documentsField);
  return joinedFields.flatMap((name) => ownField(fields, name) ?? []);
}

/** Whether a field holds documents, so that it is nothing else of a request. */
export function isDocumentsField(name: string, { documentsField, joinedFields }: DocumentsFormat): boolean {
  return name === documentsField || joinedFields?.includes(name) === true;
}

/** A field of a line itself, and nothing that objects inherit. */
export function ownField(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}
