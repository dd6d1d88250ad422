import { memberOf } from "../errors/memberOf.js";
import { changed, type FilePart, fileChunks, type Multipart, SourceError } from "../files/multipart.js";
import type { FetchLike, FetchResponse } from "../options/options.js";
import {
  type Exchange,
  type FailureReason,
  maxErrorBytes,
  networkCode,
  type Phase,
  sourceFailed,
  type Transport,
  TransportFailure,
  type TransportRequest,
  type TransportResponse,
} from "./transport.js";

/** Sends through a `fetch` function. */
export function createFetchTransport(fetch: FetchLike | typeof globalThis.fetch): Transport {
  return { send: (request) => new FetchExchange(fetch as FetchLike, request), close() {} };
}

// What Node's fetch and Bun's name a connection that never came to be, its TLS included.
const neverConnected =
  /^(ECONNREFUSED|ConnectionRefused|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|ENOTFOUND|CERT_.*|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_.*|ERR_TLS_CERT_ALTNAME_INVALID|ERR_SSL_(WRONG_VERSION_NUMBER|UNSUPPORTED_PROTOCOL|.*ALERT_(HANDSHAKE_FAILURE|PROTOCOL_VERSION)))$/;

const fileChanged = new SourceError("FAILED_PRECONDITION", "The file changed while it was read.");

class FetchExchange implements Exchange {
  phase: Phase = "headers";
  status: number | undefined;
  readonly response: Promise<TransportResponse>;
  readonly #controller = new AbortController();
  #reject!: (failure: TransportFailure) => void;

  constructor(fetch: FetchLike, request: TransportRequest) {
    request.lifetime.connected();
    this.response = new Promise((resolve, reject) => {
      this.#reject = reject;
      this.#run(fetch, request).then(resolve, reject);
    });
  }

  // Rejects by itself: not every fetch function heeds its signal.
  abort(reason: FailureReason): void {
    this.#reject(
      new TransportFailure("The request was ended.", { phase: this.phase, status: this.status, reason }),
    );
    this.#controller.abort();
  }

  async #run(fetch: FetchLike, request: TransportRequest): Promise<TransportResponse> {
    try {
      const { body } = request;
      // Nothing leaves while a form is made.
      this.phase = "connect";
      const content = typeof body === "object" ? await this.#form(body) : body;
      if (this.#controller.signal.aborted) return await this.response;
      this.phase = "headers";
      const init = {
        // Nothing is inherited: fetch would read its other options from a polluted prototype.
        __proto__: null,
        method: request.method,
        headers: request.headers,
        body: content,
        // Never followed: the key and the file go nowhere else.
        redirect: "manual",
        signal: this.#controller.signal,
      };
      const answer = await fetch(request.url.href, init as never);
      // The platform tells nothing on the way: once the answer begins, all of it was sent.
      if (typeof body === "object" && body.part.file.blob) body.part.onSent(body.part.file.size ?? 0, true);
      this.phase = "body";
      // Browsers show a redirect that is not followed as status 0.
      this.status = answer.status === 0 ? 302 : answer.status;
      const headers: Record<string, string> = {};
      answer.headers.forEach((value, name) => {
        headers[name] = value;
      });
      return { status: this.status, headers, text: await this.#text(answer, request.maxResponseBytes) };
    } catch (cause) {
      throw cause instanceof TransportFailure ? cause : this.#failure(cause);
    }
  }

  // A Blob of Blobs has a known length, and the platform reads it without keeping it.
  async #form({ head, tail, part }: Multipart): Promise<Blob> {
    try {
      const file = part.file.blob ? [await part.file.blob()] : await collect(part);
      const form = new Blob([head, ...file, tail]);
      const found = form.size - new Blob([head, tail]).size;
      if (part.file.size !== undefined && found !== part.file.size) throw changed(part.file, `${found}`);
      return form;
    } catch (cause) {
      throw this.#failure(cause, "source", sourceFailed);
    }
  }

  async #text(answer: FetchResponse, maxResponseBytes: number): Promise<string> {
    const ok = answer.status >= 200 && answer.status < 300;
    const limit = ok ? maxResponseBytes : maxErrorBytes;
    const decoder = new TextDecoder();
    let text = "";
    let total = 0;
    const reader = (answer.body as ReadableStream<Uint8Array> | null)?.getReader();
    for (;;) {
      const { done, value } = (await reader?.read().catch((cause: unknown) => {
        // An error answer is understood from what came of it; a 2xx must be whole.
        if (ok) throw cause;
        return undefined;
      })) ?? { done: true, value: undefined };
      if (done || value === undefined) return text + decoder.decode();
      total += value.byteLength;
      if (total > limit) {
        void reader?.cancel().catch(() => {});
        if (!ok) return text + decoder.decode();
        throw this.#failure(undefined, "too-large", `The answer is larger than ${limit} bytes.`);
      }
      text += decoder.decode(value, { stream: true });
    }
  }

  #failure(cause: unknown, reason?: FailureReason, message?: string): TransportFailure {
    if (this.phase === "headers" && neverConnected.test(networkCode(cause))) this.phase = "connect";
    // A Blob of a file tells of a change of the file only when it is read.
    if (named(cause, "NotReadableError")) return this.#failure(fileChanged, "source", sourceFailed);
    return new TransportFailure(message ?? `The request failed: ${textOf(cause)}`, {
      phase: this.phase,
      reason: reason ?? "network",
      status: this.status,
      cause,
    });
  }
}

function named(error: unknown, name: string): boolean {
  return memberOf(error, "name") === name || memberOf(memberOf(error, "cause"), "name") === name;
}

function textOf(error: unknown): string {
  return String(memberOf(memberOf(error, "cause"), "message") || memberOf(error, "message") || error);
}

// Few runtimes can send a stream: it is read whole first.
async function collect(part: FilePart): Promise<Uint8Array<ArrayBuffer>[]> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  // Copied: a stream may fill the same buffer again.
  for await (const chunk of fileChunks(part)) parts.push(new Uint8Array(chunk));
  return parts;
}
