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
    const { headers } = this.#answer;
    const cookies = headers["set-cookie"];
    return (cookies ? { ...headers, "set-cookie": cookies.join(", ") } : headers) as Record<string, string>;
  }
}
