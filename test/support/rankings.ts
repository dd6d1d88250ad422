import type { ReceivedRequest, Reply } from "./recordingServer.js";

/** Ranks all documents of a request, in their order. @param more Other fields of the response */
export function ranked({ body }: ReceivedRequest, more: object = {}): Reply {
  return { json: { object: "list", data: entriesFor(`${body}`), ...more } };
}

/** The entries of a ranking of all documents of a request's body. */
export function entriesFor(body: string): { readonly index: number; readonly relevance_score: number }[] {
  const { documents } = JSON.parse(body) as { readonly documents: readonly string[] };
  return documents.map((_, index) => ({ index, relevance_score: 1 - index / documents.length }));
}
