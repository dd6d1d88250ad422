// Sends a request of any operation. Loaded with the first one.

import { readWhole, UnusableAnswer } from "../call/answer.js";
import { makeRequest } from "../call/call.js";
import { callSettings, type LateSettings } from "../call/settings.js";
import type { CallSettings, Outcome, PreparedRequest } from "../call/types.js";
import { isIdempotent } from "../errors/codes.js";
import { invalid } from "../errors/statusError.js";
import { checkInteger, isHeaderText, ownProperties } from "../options/arguments.js";
import { callOptionNames } from "../options/callOptions.js";
import type { Names } from "../options/validate.js";
import type { TransportResponse } from "../transport/transport.js";
import { contentOf, encodePath, encodeQuery, readContent, urlBelow } from "./anyContent.js";
import type { EncodedCall, EncodedRequest, RequestOptions, ServiceRequest } from "./types.js";

// One file for both: they share how a target is written and an answer is read.
export { callMethod, callOperation } from "./operation.js";

const names: Names<ServiceRequest> = { method: 1, path: 1, query: 1, body: 1, contentType: 1, accept: 1 };
const { accountId: _, ...sharedNames } = callOptionNames;
const optionNames: Names<RequestOptions> = { ...sharedNames, maxResponseBytes: 1 };
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const defaultTimeoutMs = 30_000;
const defaultMaxResponseBytes = 1024 * 1024;

/** Checks and encodes what the caller gave, and sends it. @throws StatusError */
export async function sendAny<T>(
  client: LateSettings,
  request: ServiceRequest,
  options: RequestOptions | undefined,
): Promise<Outcome<T>> {
  const { method, path, query, body, contentType, accept } = ownProperties(request, "request", names);
  checkMethod(method, body);
  checkMediaType(contentType, "contentType");
  checkMediaType(accept, "accept");
  const target = encodePath(path) + encodeQuery(query);
  const content = await contentOf(body, contentType);
  return make(client, { method, target, accept, ...content }, options, (answer, secrets) =>
    readWhole(answer, secrets, (whole) => readContent(whole) as T | UnusableAnswer),
  );
}

/** Sends what is encoded, and hands the answer's body back as it is. @throws StatusError */
export async function sendEncoded(
  client: LateSettings,
  ...[request, options, onAnswer]: Parameters<EncodedCall>
): Promise<Outcome<Uint8Array>> {
  checkMethod(request.method, request.body);
  const bytesOf = (answer: TransportResponse): Uint8Array | UnusableAnswer => {
    const content = readContent(answer);
    return content instanceof UnusableAnswer ? content : answer.bytes;
  };
  return make(client, request, options, (answer, secrets) => {
    onAnswer(answer.headers);
    return readWhole(answer, secrets, bytesOf);
  });
}

function make<T>(
  client: LateSettings,
  request: EncodedRequest,
  options: RequestOptions | undefined,
  read: PreparedRequest<T>["read"],
): Promise<Outcome<T>> {
  const own = ownProperties(options, "options", optionNames);
  const settings = callSettings(client, own);
  const { method, body, contentType } = request;
  const { maxResponseBytes = defaultMaxResponseBytes } = own;
  const prepared = {
    operation: "request" as const,
    method,
    url: urlBelow(settings.client.baseUrl, request.target),
    body,
    contentType,
    maxResponseBytes: checkInteger(maxResponseBytes, "maxResponseBytes", 1),
    read,
    content: undefined,
  };
  return makeRequest(prepared, withDefaults(settings, request));
}

function withDefaults(settings: CallSettings, { method, accept }: EncodedRequest): CallSettings {
  return {
    ...settings,
    timeoutMs: settings.timeoutMs ?? defaultTimeoutMs,
    repeatable: settings.repeatable ?? isIdempotent(method),
    // Nobody knows how long its answer is.
    headers: {
      "accept-encoding": "gzip, deflate, br",
      ...settings.headers,
      ...(accept !== undefined && { accept }),
    },
  };
}

function checkMethod(method: string, body: unknown): void {
  if (!methods.includes(method)) throw invalid(`method must be one of ${methods.join(", ")}.`);
  if (body === undefined || !/^(GET|HEAD)$/.test(method)) return;
  throw invalid(`body cannot be sent with ${method}.`);
}

function checkMediaType(value: unknown, what: string): void {
  if (value === undefined || (typeof value === "string" && value !== "" && isHeaderText(value))) return;
  throw invalid(`${what} must be a media type such as "application/json".`);
}
