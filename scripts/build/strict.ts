import { isSafe, type RetryKind } from "../generate/document.js";
import type { JsonObject } from "./json.js";
import { mapObjects } from "./walk.js";

/**
 * The contract without what is for its editors, the sections of a document that its readers cannot get; and with
 * `x-retry-safe` beside each `x-retry`, which says the same to whoever needs one word.
 */
export function published(document: JsonObject): JsonObject {
  return mapObjects(document, ({ "x-source": _, ...others }) => {
    const { "x-retry": kind } = others;
    if (kind === undefined) return others;
    const entries = Object.entries(others).flatMap((entry) =>
      entry[0] === "x-retry" ? [entry, ["x-retry-safe", isSafe({ "x-retry": kind as RetryKind })]] : [entry],
    );
    return Object.fromEntries(entries);
  }) as JsonObject;
}

/** The form for validators, mocks and servers in OpenAPI 3.1: a file's bytes are named by their media type. */
export function toStrict31(document: JsonObject): JsonObject {
  return mapObjects(document, (object) => {
    const { type, format, ...others } = object;
    if (type !== "string" || format !== "binary") return object;
    return { type, contentMediaType: "application/octet-stream", ...others };
  }) as JsonObject;
}
