// Calls an operation as its row in the contract says. Loaded with anyRequest.ts, with which it shares its parts.
import { defaultPathSerializer } from "openapi-fetch";
import { readAnswer, readWhole, type Unusable } from "../call/answer.js";
import { makeRequest } from "../call/call.js";
import type { Outcome } from "../call/callPromise.js";
import type { LateSettings } from "../call/lateSettings.js";
import { writeJson } from "../call/request.js";
import type { Purpose } from "../call/run.js";
import { type CallSettings, callSettings } from "../call/settings.js";
import { type OperationRow, operations, requests } from "../generated/contract.js";
import { checkHeaders, ownProperties } from "../options/arguments.js";
import { type CallOptions, callOptionNames } from "../options/callOptions.js";
import { checkSpelling } from "../options/names.js";
import { type RequestRules, type Rules, validate } from "../options/validate.js";
import type { TransportResponse } from "../transport/transport.js";
import type { OperationMethod } from "./contractMethods.js";
import type { OperationInput } from "./operationMethods.js";
import { needsAccount, pathOf } from "./operationPath.js";
import { readContent } from "./readContent.js";
import type { ServiceRequest } from "./request.js";
import { encodeQuery, urlBelow } from "./requestUrl.js";

/** The arguments of a method in their order: ids, body or file, parameters, options. @throws StatusError */
export async function callMethod<T>(
  client: LateSettings,
  { operation, path, body, parameters }: OperationMethod,
  given: readonly unknown[],
): Promise<Outcome<T>> {
  const ids = Object.fromEntries(path.map((name, index) => [name, given[index]]));
  let at = path.length;
  const input = {
    operation,
    ids,
    body: body ? given[at++] : undefined,
    parameters: parameters ? (given[at++] as object | undefined) : undefined,
  };
  return callOperation(client, input, given[at] as CallOptions | undefined);
}

/** Checks what an operation takes, and sends it. @throws StatusError */
export async function callOperation<T>(
  client: LateSettings,
  { operation, ids, body, parameters }: OperationInput,
  options: CallOptions | undefined,
): Promise<Outcome<T>> {
  const rules: RequestRules = requests[operation];
  if (rules.file !== undefined) {
    const { uploadFile } = await import("./uploadFile.js");
    return uploadFile(client, { operation, ids }, body as never, ownProperties(options, "options")) as never;
  }
  const row = operations[operation];
  const own = ownProperties(options, "options", callOptionNames);
  const settings = callSettings(client, own, needsAccount(operation));
  const { query, headers } = checkParameters(rules, parameters);
  const target = defaultPathSerializer(row.path, pathOf(operation, ids, settings)) + encodeQuery(query);
  const request = {
    method: row.method,
    url: urlBelow(settings.client.baseUrl, target),
    body: bodyOf(rules, body),
    contentType: body === undefined ? undefined : rules.contentType,
    maxResponseBytes: row.maxResponseBytes,
  };
  const read = readerOf(row) as Purpose<T>["read"];
  return makeRequest<T>(request, { operation, body, read }, withHeaders(settings, row, headers));
}

interface Parameters {
  readonly query: NonNullable<ServiceRequest["query"]>;
  readonly headers: Readonly<Record<string, string>>;
}

function checkParameters({ query, headers }: RequestRules, given: object | undefined): Parameters {
  const fields = { ...query?.properties, ...headers?.properties };
  const own = ownProperties(given, "parameters", fields as never) as Readonly<Record<string, unknown>>;
  const partOf = (rules: Rules | undefined): Record<string, unknown> => {
    const part = Object.fromEntries(
      Object.keys(rules?.properties ?? {}).map((name) => [
        name,
        Object.hasOwn(own, name) ? own[name] : undefined,
      ]),
    );
    if (rules) validate(part, rules, "parameters");
    return part;
  };
  const texts = Object.entries(partOf(headers)).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as const],
  );
  return { query: partOf(query) as Parameters["query"], headers: checkHeaders(Object.fromEntries(texts)) };
}

function bodyOf({ body: rules, optional }: RequestRules, body: unknown): string | undefined {
  if (rules === undefined || (body === undefined && optional)) return undefined;
  validate(body, rules, "body");
  checkSpelling(body as object, rules.properties ?? {}, "body");
  return writeJson(body);
}

function readerOf({ answer }: OperationRow): Purpose<unknown>["read"] {
  if (answer === undefined) return (got, secrets) => readAnswer(got, secrets, (value) => value);
  const read: Readonly<Record<typeof answer, (got: TransportResponse) => unknown | Unusable>> = {
    none: () => undefined,
    bytes: ({ bytes }) => bytes,
    text: (got) => readContent(got) ?? "",
  };
  return (got, secrets) => readWhole(got, secrets, read[answer]);
}

function withHeaders(
  settings: CallSettings,
  { accept }: OperationRow,
  headers: Readonly<Record<string, string>>,
): CallSettings {
  return {
    ...settings,
    headers: { ...settings.headers, ...headers, ...(accept !== undefined && { accept }) },
  };
}
