import { type FetchForm, SourceError } from "../files/fileSource.js";
import type { FetchLike, FetchResponse } from "../options/clientOptions.js";
import { memberOf, textFor } from "../values.js";
import { answeredEarly, BaseExchange, ReceivedResponse } from "./exchange.js";
import {
  isForm,
  isNamed,
  type Phase,
  sourceFailed,
  type Transport,
  type TransportRequest,
} from "./transport.js";

export function createFetchTransport(fetch: FetchLike | typeof globalThis.fetch): Transport {
  return { send: (request) => new FetchExchange(fetch as FetchLike, request), close() {} };
}

const fileChanged = new SourceError("FAILED_PRECONDITION", "The file changed while it was read.");

class FetchExchange extends BaseExchange<FetchedResponse> {
  // Nothing leaves while a form is made.
  phase: Phase = "connect";
  readonly #controller = new AbortController();
  protected readonly heard = 0;
  declare protected body: FetchForm | undefined;

  constructor(fetch: FetchLike, request: TransportRequest) {
    super(request);
    request.lifetime.started();
    this.#run(fetch, request).catch((cause: unknown) => this.#lost(cause));
  }

  async #run(
    fetch: FetchLike,
    { method, url, headers, body, maxResponseBytes }: TransportRequest,
  ): Promise<void> {
    this.body = isForm(body) ? body.forFetch : undefined;
    const content = this.body ? await this.body.toBody(headers) : (body as string | undefined);
    if (this.request === undefined) return;
    this.phase = "headers";
    const init = {
      // Nothing is inherited: fetch would read its other options from a polluted prototype.
      __proto__: null,
      method,
      headers,
      body: content,
      duplex: this.body?.duplex,
      // Never followed: the key and the file go nowhere else.
      redirect: "manual",
      signal: this.#controller.signal,
    };
    await this.#receive(await fetch(url.href, init as never), maxResponseBytes);
  }

  async #receive(response: FetchResponse, maxResponseBytes: number): Promise<void> {
    const headers = fetchedHeaders(response);
    const reader = headers && readerOf(response, headers);
    if (headers) {
      this.body?.answered(memberOf(response, "type"));
      this.phase = "body";
      this.answer = new FetchedResponse(response.status, headers, maxResponseBytes);
    }
    if (reader === undefined)
      return this.failed("The fetch function gave no Response with status, headers and a readable body.", {
        reason: "foreign",
      });
    for (;;) {
      const { done, value } = await reader.read();
      if (done || value === undefined) return this.ended();
      this.answer?.keep(value, this);
      if (this.request === undefined) return void reader.cancel().catch(() => {});
    }
  }

  #lost(cause: unknown, text: string = `The request failed: ${wordsOf(cause)}`): void {
    const failed = this.body?.failed ?? this.#sourceFault(cause);
    if (failed?.isUnsent) this.phase = "connect";
    if (failed) this.cut(sourceFailed, { reason: "source", cause: failed.cause });
    else this.cut(text, { cause, isGuessed: this.phase === "headers" });
  }

  // A Blob of a file tells of a change of the file only when it is read.
  #sourceFault(cause: unknown): FetchForm["failed"] {
    if (isNamed(cause, "NotReadableError")) return { cause: fileChanged };
    return this.phase === "connect" ? { cause } : undefined;
  }

  protected early(): void {
    this.#lost(undefined, answeredEarly);
  }

  // Not every fetch function heeds its signal: what still comes is not read.
  protected stop(): void {
    this.#controller.abort();
  }
}

function wordsOf(error: unknown): string {
  return textFor(memberOf(memberOf(error, "cause"), "message") || memberOf(error, "message") || error);
}

type BodyChunk = Uint8Array<ArrayBuffer>;
type FetchHeaders = Record<string, string>;

/** The reader of a web stream, or the same for another body. */
export interface Reader {
  read(): Promise<{ readonly done?: boolean | undefined; readonly value?: BodyChunk | undefined }>;
  cancel(): Promise<unknown>;
}

/** A response's headers; undefined for what is no response. */
function fetchedHeaders(response: FetchResponse | undefined): FetchHeaders | undefined {
  const given = memberOf(response, "headers") as Partial<FetchResponse["headers"]> | undefined;
  if (!Number.isInteger(memberOf(response, "status")) || typeof given?.forEach !== "function")
    return undefined;
  const headers: FetchHeaders = {};
  given.forEach((value, name) => {
    headers[name] = value;
  });
  return headers;
}

/** What reads a response's body; undefined when nothing can. */
function readerOf(response: FetchResponse, headers: FetchHeaders): Reader | undefined {
  const body = (response.body ?? undefined) as ReadableStream<BodyChunk> | undefined;
  if (typeof body?.getReader === "function") return body.getReader();
  const isStream = typeof body === "object" && Symbol.asyncIterator in body;
  if (body && !isStream && !response.arrayBuffer && !response.text) return undefined;
  const source = isStream ? (body as AsyncIterable<BodyChunk>) : wholeOf(response, headers);
  const chunks = source[Symbol.asyncIterator]();
  return { read: () => chunks.next(), cancel: async () => chunks.return?.() };
}

// The whole body at once, as in React Native. Of text as text: its older versions give no bytes.
async function* wholeOf(response: FetchResponse, headers: FetchHeaders): AsyncGenerator<BodyChunk> {
  const isText = /json|text/.test(headers["content-type"] ?? "") || !response.arrayBuffer;
  if (isText && response.text) yield new TextEncoder().encode(await response.text());
  else if (response.arrayBuffer) yield new Uint8Array(await response.arrayBuffer());
}

class FetchedResponse extends ReceivedResponse {
  readonly headers: FetchHeaders;

  constructor(status: number, headers: FetchHeaders, maxResponseBytes: number) {
    // Browsers show a redirect that is not followed as status 0.
    super(status === 0 ? 302 : status, maxResponseBytes);
    this.headers = headers;
  }

  override get arrived(): number {
    return this.headers["content-encoding"] === undefined ? super.arrived : Number.NaN;
  }
}
