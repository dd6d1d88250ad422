// The documents of a line, whichever fields they are in.
type Fields = Readonly<Record<string, unknown>>;

export interface DocumentsFormat {
  readonly documentsField: string;
  /** Where the documents of several fields are one list: these fields, in this order. */
  readonly joinedFields?: readonly string[] | undefined;
}

/** What a line has as documents: a list, or whatever is there in its place. */
export function lineDocuments(fields: Fields, { documentsField, joinedFields }: DocumentsFormat): unknown {
  // The name of one field may have a comma, too.
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
