// Sends a request of any operation. Imports types only: see `core` in request.ts.
import type { Unusable } from "../call/answer.js";
import type { Outcome } from "../call/callPromise.js";
import type { LateSettings } from "../call/lateSettings.js";
import type { CallSettings } from "../call/settings.js";
import type { Names } from "../options/names.js";
import type { TransportResponse } from "../transport/transport.js";
import type { EncodedCall } from "./encodedCall.js";
import { readContent } from "./readContent.js";
import type { Core, RequestOptions, ServiceRequest } from "./request.js";
import { contentOf } from "./requestBody.js";
import { encodePath, encodeQuery, urlBelow } from "./requestUrl.js";

/** A request whose parts are encoded. */
export interface EncodedRequest {
  readonly method: string;
  /** Below the base URL: the path, its ids encoded, and the query. */
  readonly target: string;
  readonly body: string | Uint8Array | undefined;
  readonly contentType: string | undefined;
  readonly accept: string | undefined;
}

const names: Names<ServiceRequest> = { method: 1, path: 1, query: 1, body: 1, contentType: 1, accept: 1 };
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const defaultTimeoutMs = 30_000;
const defaultMaxResponseBytes = 1024 * 1024;

type Read<T> = (answer: TransportResponse) => T | Unusable;

/** Requests of a client, for operations that it does not know. */
export class AnyRequest {
  readonly #core: Core;
  readonly #client: LateSettings;

  constructor(core: Core, client: LateSettings) {
    this.#core = core;
    this.#client = client;
  }

  /** Checks and encodes what the caller gave, and sends it. @throws StatusError */
  async send<T>(request: ServiceRequest, options: RequestOptions | undefined): Promise<Outcome<T>> {
    const core = this.#core;
    const own = core.ownProperties(request, "request", names);
    const { method, path, query, body, contentType, accept } = own;
    this.#checkMethod(method, body);
    checkMediaType(core, contentType, "contentType");
    checkMediaType(core, accept, "accept");
    const target = encodePath(core, path) + encodeQuery(core, query);
    const content = await contentOf(core, body, contentType);
    const read = (answer: TransportResponse) => readContent(core, answer) as T | Unusable;
    return this.#make({ method, target, accept, ...content }, options, read);
  }

  /** Sends what is encoded, and hands the answer's body back as it is. @throws StatusError */
  async sendEncoded(...[request, options, onAnswer]: Parameters<EncodedCall>): Promise<Outcome<Uint8Array>> {
    const core = this.#core;
    this.#checkMethod(request.method, request.body);
    const read = (answer: TransportResponse) => {
      const content = readContent(core, answer);
      return content instanceof core.Unusable ? content : answer.bytes;
    };
    return this.#make(request, options, read, onAnswer);
  }

  #make<T>(
    request: EncodedRequest,
    options: RequestOptions | undefined,
    read: Read<T>,
    onAnswer?: Parameters<EncodedCall>[2],
  ): Promise<Outcome<T>> {
    const { callSettings, checkInteger, makeRequest, ownProperties, readWhole } = this.#core;
    const own = ownProperties(options, "options", this.#optionNames);
    const settings = callSettings(this.#client, own);
    const { method, body, contentType } = request;
    const { maxResponseBytes = defaultMaxResponseBytes } = own;
    const prepared = {
      method,
      url: urlBelow(this.#core, settings.client.baseUrl, request.target),
      body,
      contentType,
      maxResponseBytes: checkInteger(maxResponseBytes, "maxResponseBytes", 1),
    };
    const purpose = {
      operation: "request",
      describe: undefined,
      read(answer: TransportResponse, secrets: readonly string[]) {
        onAnswer?.(answer.headers);
        return readWhole(answer, secrets, read);
      },
    } as const;
    return makeRequest(prepared, purpose, this.#withDefaults(settings, request));
  }

  #withDefaults(settings: CallSettings, { method, accept }: EncodedRequest): CallSettings {
    return {
      ...settings,
      timeoutMs: settings.timeoutMs ?? defaultTimeoutMs,
      repeatable: settings.repeatable ?? this.#core.isIdempotent(method),
      headers: accept === undefined ? settings.headers : { ...settings.headers, accept },
    };
  }

  get #optionNames(): Names<RequestOptions> {
    const { accountId: _, ...shared } = this.#core.callOptionNames;
    return { ...shared, maxResponseBytes: 1 };
  }

  #checkMethod(method: string, body: unknown): void {
    const { invalid } = this.#core;
    if (!methods.includes(method)) throw invalid(`method must be one of ${methods.join(", ")}.`);
    if (body === undefined || !/^(GET|HEAD)$/.test(method)) return;
    throw invalid(`body cannot be sent with ${method}.`);
  }
}

function checkMediaType({ invalid, isHeaderText }: Core, value: unknown, what: string): void {
  if (value === undefined || (typeof value === "string" && value !== "" && isHeaderText(value))) return;
  throw invalid(`${what} must be a media type such as "application/json".`);
}
