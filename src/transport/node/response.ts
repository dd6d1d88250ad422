import type { IncomingMessage } from "node:http";
import type { TransportResponse } from "../transport.js";

/** An answer over node:http. */
export class NodeResponse implements TransportResponse {
  readonly text: string;
  readonly #answer: IncomingMessage;

  constructor(answer: IncomingMessage, text: string) {
    this.#answer = answer;
    this.text = text;
  }

  get status(): number {
    return this.#answer.statusCode ?? 0;
  }

  // Node makes them of the raw list when asked; few calls ask.
  get headers(): Readonly<Record<string, string>> {
    const { rawHeaders } = this.#answer;
    if (rawHeaders.some((name, i) => i % 2 === 0 && name.toLowerCase() in Object.prototype)) {
      return fromRaw(rawHeaders);
    }
    const { headers } = this.#answer;
    const cookies = Object.hasOwn(headers, "set-cookie") ? headers["set-cookie"] : undefined;
    return (cookies ? { ...headers, "set-cookie": cookies.join(", ") } : headers) as Record<string, string>;
  }
}

// Node would take what Object.prototype has under a header's name for one that came before.
function fromRaw(rawHeaders: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]?.toLowerCase() ?? "";
    const value = rawHeaders[i + 1] ?? "";
    headers[name] = Object.hasOwn(headers, name) ? `${headers[name]}, ${value}` : value;
  }
  return headers;
}
