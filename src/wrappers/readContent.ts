import { Unusable } from "../call/answer.js";
import { header } from "../policy/retryAfter.js";
import type { TransportResponse } from "../transport/transport.js";
import { parseJson } from "../values.js";

/**
 * What a 2xx answer holds: a value when its type is JSON, text when that is text, otherwise bytes; undefined when it is
 * empty. An Unusable when it is not the JSON that it says it is.
 */
export function readContent({ status, headers, bytes }: TransportResponse): unknown {
  if (bytes.byteLength === 0) return undefined;
  const type = header(headers, "content-type") ?? "";
  const isJson = /^[^;]*[/+]json\s*(;|$)/i.test(type);
  if (!isJson && !/^\s*text\//i.test(type)) return bytes;
  const text = decode(bytes, /;\s*charset="?([^\s;"]+)/i.exec(type)?.[1]);
  if (!isJson) return text;
  const value = parseJson(text);
  if (value !== undefined) return value;
  const message = `The answer is not the JSON that its type promises (HTTP ${status}).`;
  return new Unusable("INTERNAL", message, "notJson");
}

function decode(bytes: Uint8Array, charset: string | undefined): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    // A name that is no encoding's.
    return new TextDecoder().decode(bytes);
  }
}
