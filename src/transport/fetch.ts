import { type FetchForm, SourceError } from "../files/fileSource.js";
import type { FetchLike, FetchResponse } from "../options/clientOptions.js";
import { isInstance, memberOf, textFor } from "../values.js";
import {
  answeredEarly,
  type Exchange,
  type FailureReason,
  isForm,
  isNamed,
  isSuccess,
  maxErrorBytes,
  type Phase,
  sourceFailed,
  type Transport,
  TransportFailure,
  type TransportRequest,
  type TransportResponse,
} from "./transport.js";

/** @param isBeforeConnection Whether an error by itself proves that no connection came about */
export function createFetchTransport(
  fetch: FetchLike | typeof globalThis.fetch,
  isBeforeConnection: (error: unknown) => boolean,
): Transport {
  return {
    send: (request) => new FetchExchange(fetch as FetchLike, request, isBeforeConnection),
    close() {},
  };
}

const noResponse = "The fetch function gave no Response with status, headers and a readable body.";

const ended = { done: true, value: undefined } as const;

const fileChanged = new SourceError("FAILED_PRECONDITION", "The file changed while it was read.");

class FetchExchange implements Exchange {
  phase: Phase = "headers";
  // What has arrived; NaN while the platform decodes it unseen.
  #arrived = 0;
  answer: Exchange["answer"];
  readonly response: Promise<TransportResponse>;
  readonly #controller = new AbortController();
  #reject!: (failure: TransportFailure) => void;
  #form: FetchForm | undefined;

  readonly #isBeforeConnection: (error: unknown) => boolean;

  constructor(fetch: FetchLike, request: TransportRequest, isBeforeConnection: (error: unknown) => boolean) {
    this.#isBeforeConnection = isBeforeConnection;
    request.lifetime.started();
    this.response = new Promise((resolve, reject) => {
      this.#reject = reject;
      this.#run(fetch, request).then(resolve, reject);
    });
  }

  get arrived(): number | undefined {
    return this.phase === "connect" ? undefined : this.#arrived;
  }

  // Rejects by itself: not every fetch function heeds its signal.
  abort(reason: FailureReason): void {
    this.#reject(
      new TransportFailure("The request was ended.", {
        phase: this.phase,
        status: this.answer?.status,
        reason,
      }),
    );
    this.#controller.abort();
  }

  async #run(fetch: FetchLike, request: TransportRequest): Promise<TransportResponse> {
    try {
      const { body } = request;
      // Nothing leaves while a form is made.
      this.phase = "connect";
      const content = isForm(body) ? await this.#bodyOf(body.forFetch, request.headers) : body;
      if (this.#controller.signal.aborted) return await this.response;
      this.phase = "headers";
      const init = {
        // Nothing is inherited: fetch would read its other options from a polluted prototype.
        __proto__: null,
        method: request.method,
        headers: request.headers,
        body: content,
        duplex: this.#form?.duplex,
        // Never followed: the key and the file go nowhere else.
        redirect: "manual",
        signal: this.#controller.signal,
      };
      return await this.#receive(await fetch(request.url.href, init as never), request.maxResponseBytes);
    } catch (cause) {
      throw isInstance(cause, TransportFailure) ? cause : this.#failure(cause);
    } finally {
      this.#form?.close();
    }
  }

  async #receive(answer: FetchResponse, maxResponseBytes: number): Promise<TransportResponse> {
    const headers = fetchedHeaders(answer);
    if (headers === undefined) throw this.#failure(undefined, "foreign", noResponse);
    this.#form?.answered(memberOf(answer, "type"));
    this.phase = "body";
    // Browsers show a redirect that is not followed as status 0.
    const status = answer.status === 0 ? 302 : answer.status;
    this.#arrived = headers["content-encoding"] === undefined ? 1 : Number.NaN;
    this.answer = { status, headers };
    const ok = isSuccess(status);
    const limit = ok ? maxResponseBytes : maxErrorBytes;
    const reader = readerOf(answer, headers);
    if (reader === undefined) throw this.#failure(undefined, "foreign", noResponse);
    const chunks = await this.#read(reader, ok, limit);
    // A file that is not there whole was not taken, whatever the answer says.
    if (ok && this.#form?.incomplete) throw this.#failure(undefined, undefined, answeredEarly);
    return new FetchAnswer(status, headers, chunks);
  }

  async #bodyOf(form: FetchForm, headers: Record<string, string>): Promise<Blob | ReadableStream> {
    this.#form = form;
    try {
      return await form.toBody(headers);
    } catch (cause) {
      throw this.#failure(cause, "source", sourceFailed);
    }
  }

  async #read(reader: Reader, ok: boolean, limit: number): Promise<BodyChunk[]> {
    const chunks: BodyChunk[] = [];
    let total = 0;
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        // An error answer is understood from what came of it; a 2xx must be whole.
        if (ok) throw cause;
        return ended;
      });
      if (done || value === undefined) return chunks;
      total += value.byteLength;
      this.#arrived += 1;
      if (total > limit) {
        void reader.cancel().catch(() => {});
        if (!ok) return chunks;
        throw this.#failure(undefined, "too-large", `The answer is larger than ${limit} bytes.`);
      }
      chunks.push(value);
    }
  }

  #failure(cause: unknown, reason?: FailureReason, message?: string): TransportFailure {
    if (this.phase === "headers" && this.#isBeforeConnection(cause)) this.phase = "connect";
    const failed = this.#form?.failed;
    if (failed?.isUnsent) this.phase = "connect";
    if (failed && reason === undefined) return this.#failure(failed.cause, "source", sourceFailed);
    // A Blob of a file tells of a change of the file only when it is read.
    if (isNamed(cause, "NotReadableError")) return this.#failure(fileChanged, "source", sourceFailed);
    return new TransportFailure(message ?? `The request failed: ${wordsOf(cause)}`, {
      phase: this.phase,
      reason: reason ?? "network",
      status: this.answer?.status,
      cause,
    });
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

/** One answer, whole. */
class FetchAnswer implements TransportResponse {
  declare readonly status: number;
  declare readonly headers: Readonly<Record<string, string>>;
  readonly #chunks: readonly Uint8Array<ArrayBuffer>[];

  constructor(
    status: number,
    headers: Readonly<Record<string, string>>,
    chunks: readonly Uint8Array<ArrayBuffer>[],
  ) {
    this.status = status;
    this.headers = headers;
    this.#chunks = chunks;
  }

  get text(): string {
    return new TextDecoder().decode(this.bytes);
  }

  get bytes(): Uint8Array {
    const bytes = new Uint8Array(this.#chunks.reduce((total, { byteLength }) => total + byteLength, 0));
    let at = 0;
    for (const chunk of this.#chunks) {
      bytes.set(chunk, at);
      at += chunk.byteLength;
    }
    return bytes;
  }
}
