// Finds the documents of a line: in one field or several, as texts or as objects with a text field.
import type { Id } from "../checkpoints/ids.js";
import { isObject, namesIn } from "../input/lineContent.js";
import { named } from "../terminal.js";

type Fields = Readonly<Record<string, unknown>>;

export interface DocumentsFormat {
  readonly documentsField: string;
  /** The fields whose documents are joined to one list, in this order (`--documents-field a,b`). */
  readonly joinedFields?: readonly string[] | undefined;
  /** The field of a document object that holds its text (`--text-field`). */
  readonly textField?: string | undefined;
  /** The field of a document object that holds its id (`--document-id-field`). */
  readonly documentIdField?: string | undefined;
}

/** The documents to send: a list of texts, or any other value that the line has there, which the client rejects. */
export function lineDocuments(fields: Fields, format: DocumentsFormat): unknown {
  const { textField } = format;
  const all = foundIn(fields, format);
  if (textField === undefined || !Array.isArray(all)) return all;
  return all.map((document) => (isObject(document) ? ownField(document, textField) : document));
}

/** The ids of the documents of a valid line; undefined without `--document-id-field`. */
export function lineDocumentIds(fields: Fields, format: DocumentsFormat): readonly Id[] | undefined {
  const { documentIdField } = format;
  const all = foundIn(fields, format);
  if (documentIdField === undefined || !Array.isArray(all)) return undefined;
  return all.map((document) => ownField(document, documentIdField) as Id);
}

/**
 * Returns why a line's documents do not fit the options; undefined if they fit. Undefined also if they are no list,
 * which the client rejects.
 */
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
    return `has no text in the field ${named(textField)}, which --text-field names. Its fields: ${namesIn(document) || "none"}.`;
  if (documentIdField === undefined) return undefined;
  const id = isObject(document) ? ownField(document, documentIdField) : undefined;
  if (typeof id === "string" || Number.isSafeInteger(id)) return undefined;
  const its = isObject(document) ? ` Its fields: ${namesIn(document)}.` : "";
  return `has no id that is text or a whole number in the field ${named(documentIdField)}, which --document-id-field names.${its}`;
}

function foundIn(fields: Fields, { documentsField, joinedFields }: DocumentsFormat): unknown {
  // `--documents-field a,b` names two fields, unless the line has a single field with the name "a,b".
  if (joinedFields === undefined || Object.hasOwn(fields, documentsField))
    return ownField(fields, documentsField);
  return joinedFields.flatMap((name) => ownField(fields, name) ?? []);
}

/** Whether a field holds documents, so that it cannot be another field of a request. */
export function isDocumentsField(name: string, { documentsField, joinedFields }: DocumentsFormat): boolean {
  return name === documentsField || joinedFields?.includes(name) === true;
}

/** A field of a line: own properties only. */
export function ownField(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}
