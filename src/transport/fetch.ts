import type { FetchForm, Multipart } from "../files/multipart.js";
import type { FetchLike, FetchResponse } from "../options/types.js";
import { memberOf, wordsOf } from "../values.js";
import {
  Exchange,
  type Phase,
  respondedEarly,
  sourceFailed,
  type Transport,
  type TransportRequest,
  TransportResponse,
} from "./exchange.js";

/** @param formOf Returns how to send a form; by default as a Blob of its parts, which any `fetch` function accepts */
export function createFetchTransport(
  fetch: FetchLike | typeof globalThis.fetch,
  formOf: (form: Multipart) => FetchForm = (form) => form,
): Transport {
  return { send: (request) => new FetchExchange(fetch as FetchLike, request, formOf), close() {} };
}

class FetchExchange extends Exchange {
  // "connect" until `fetch` is called: nothing is sent while the body of a form is made.
  phase: Phase = "connect";
  readonly #controller = new AbortController();
  protected readonly heard = 0;
  declare protected body: FetchForm | undefined;

  constructor(fetch: FetchLike, request: TransportRequest, formOf: (form: Multipart) => FetchForm) {
    super(request);
    request.lifetime.started();
    if (request.form) this.body = formOf(request.form);
    this.#run(fetch, request).catch((cause: unknown) => this.#lost(cause));
  }

  async #run(
    fetch: FetchLike,
    { method, url, headers, body, maxResponseBytes, freshSocket }: TransportRequest,
  ): Promise<void> {
    const content = this.body ? await this.body.toBody(headers) : (body as string);
    if (this.request === undefined) return;
    this.phase = "headers";
    const init = {
      // Nothing is inherited: fetch would read its other options from a polluted prototype.
      __proto__: null,
      method,
      headers,
      body: content,
      duplex: this.body?.duplex,
      // Redirects are never followed, so that the key and the file go to no other address.
      redirect: "manual",
      // Frameworks such as Next.js answer a request from their cache. Older workerd rejects the option, and lacks the member.
      cache: typeof Request === "function" && "cache" in Request.prototype ? "no-store" : undefined,
      // Bun repeats a request whose used connection was lost, so it gets a new one. Elsewhere false is the default.
      keepalive: freshSocket ? false : undefined,
      signal: this.#controller.signal,
    };
    await this.#receive(await fetch(url.href, init as never), maxResponseBytes);
  }

  async #receive(response: FetchResponse, maxResponseBytes: number): Promise<void> {
    const headers = fetchedHeaders(response);
    const reader = headers && readerOf(response, headers);
    if (headers) {
      this.body?.responded(memberOf(response, "type"));
      this.phase = "body";
      // Browsers show a redirect that is not followed as status 0.
      this.response = new TransportResponse(response.status || 302, maxResponseBytes, () => headers);
    }
    if (reader === undefined)
      return this.failed("The fetch function gave no Response with status, headers and a readable body.", {
        reason: "foreign",
      });
    for (;;) {
      const { done, value } = await reader.read();
      if (done || value === undefined) return this.ended();
      this.response?.keep(value, this);
      if (this.request === undefined) return void reader.cancel().catch(() => {});
    }
  }

  #lost(cause: unknown, text: string = `The request failed: ${wordsOf(cause)}`): void {
    // A failure before the phase "headers" happened while the form's body was made.
    const failed = this.body?.failedBy(cause) ?? (this.phase === "connect" ? { cause } : undefined);
    if (failed?.isUnsent) this.phase = "connect";
    if (failed) this.cut(sourceFailed(failed.cause), { reason: "source", cause: failed.cause });
    else this.cut(text, { cause, isGuessed: this.phase === "headers" });
  }

  protected early(): void {
    this.#lost(undefined, respondedEarly);
  }

  // Some fetch functions ignore the signal and go on receiving: `#receive` stops reading at the next chunk.
  protected stop(): void {
    this.#controller.abort();
  }
}

/** A response's headers; undefined if the value is not a response. */
function fetchedHeaders(response: FetchResponse | undefined): Record<string, string> | undefined {
  const given = memberOf(response, "headers");
  if (!Number.isInteger(memberOf(response, "status")) || typeof memberOf(given, "forEach") !== "function")
    return undefined;
  const headers: Record<string, string> = {};
  (given as FetchResponse["headers"]).forEach((value, name) => {
    headers[name] = value;
  });
  return headers;
}

/** A reader of a response's body; undefined if the body cannot be read. */
function readerOf(
  response: FetchResponse,
  headers: Record<string, string>,
): Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel"> | undefined {
  const body = (response.body ?? undefined) as ReadableStream<Uint8Array> | undefined;
  if (typeof body?.getReader === "function") return body.getReader();
  const isStream = typeof body === "object" && Symbol.asyncIterator in body;
  if (body && !isStream && !response.arrayBuffer && !response.text) return undefined;
  const source: AsyncIterable<Uint8Array> = isStream ? (body as never) : wholeOf(response, headers);
  const chunks = source[Symbol.asyncIterator]();
  return { read: () => chunks.next() as never, cancel: async () => void (await chunks.return?.()) };
}

// Reads a whole body at once, for React Native, which has no streams. Its older versions give only text, no bytes.
async function* wholeOf(
  response: FetchResponse,
  headers: Record<string, string>,
): AsyncGenerator<Uint8Array> {
  const isText = /json|text/.test(headers["content-type"] ?? "") || !response.arrayBuffer;
  if (isText && response.text) yield new TextEncoder().encode(await response.text());
  else if (response.arrayBuffer) yield new Uint8Array(await response.arrayBuffer());
}
