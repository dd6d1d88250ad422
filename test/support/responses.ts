import type { RerankRequest } from "../../src/generated/types.js";
import type { ReceivedRequest, Reply, Script } from "./recordingServer.js";

/** The service's own word that a call may be repeated. */
export const unavailable: Reply = { status: 503, json: { code: "UNAVAILABLE", message: "Busy." } };

/** A JSON object that has what each operation needs: an upload's id, a ranking's entries, for one document. */
export const goodJson = { id: "file-1", data: [{ index: 0, relevance_score: 1 }] } as const;

/** The same as text. */
export const goodText: string = JSON.stringify(goodJson);

/** Success. */
export const done: Reply = { json: goodJson };

/** Reads the request, then resets the connection. */
export const reset: Script = (_request, response) => {
  response.socket?.resetAndDestroy();
  return undefined;
};

/** Never responds. */
export const silence: Script = () => undefined;

/** Responds to the first request with the first of these, and all from the last one on with that. */
export function inTurn(...responses: readonly [Reply | Script, ...(Reply | Script)[]]): Script {
  let next = 0;
  return (request, response) => {
    const chosen = responses[Math.min(next++, responses.length - 1)] ?? responses[0];
    return typeof chosen === "function" ? chosen(request, response) : chosen;
  };
}

/** The documents of a rerank. */
export function documentsOf({ body }: ReceivedRequest): readonly string[] {
  return (JSON.parse(body.toString()) as RerankRequest).documents;
}

/** Ranks all documents of a request, in their order. @param more Other fields of the response */
export function ranked({ body }: ReceivedRequest, more: object = {}): Reply {
  return { json: { object: "list", data: entriesFor(`${body}`), ...more } };
}

/** The entries of a ranking of all documents of a request's body. */
export function entriesFor(body: string): { readonly index: number; readonly relevance_score: number }[] {
  const { documents } = JSON.parse(body) as { readonly documents: readonly string[] };
  return documents.map((_, index) => ({ index, relevance_score: 1 - index / documents.length }));
}
