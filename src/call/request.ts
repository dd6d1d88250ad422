// Everything that touches openapi-fetch, so that it can be replaced in this one file.
import createFetchClient from "openapi-fetch";
import { jsonOf } from "../errors/json.js";
import { Multipart } from "../files/multipart.js";
import { type OperationId, operations, type PathParameters } from "../generated/contract.js";

/** What an operation is asked with: its path parameters and its body. */
export interface OperationInput<Id extends OperationId> {
  readonly path: PathParameters[Id];
  readonly body: object;
}

/** The request openapi-fetch made of an operation. */
export interface PreparedRequest {
  readonly url: string;
  readonly method: string;
  readonly body: string | Multipart | undefined;
}

/** Turns an operation into a request; nothing is sent. */
export type Prepare = <Id extends OperationId>(id: Id, input: OperationInput<Id>) => PreparedRequest;

/** Stands in for the platform's Request, which would copy everything and keep the body in memory. */
class LightRequest implements PreparedRequest {
  readonly url: string;
  readonly method: string;
  readonly body: string | Multipart | undefined;
  constructor(url: string, init: { method: string; body: string | Multipart | undefined }) {
    this.url = url;
    this.method = init.method;
    this.body = init.body;
  }
}

// What openapi-fetch is told came back: nothing it would read. The answer is the transport's business.
const nothing = Promise.resolve({ status: 204, ok: true, headers: { get: () => null } });

/** Requests as openapi-fetch makes them: it hands them to its `fetch`, before its first await, and that keeps them. */
export function createPrepare(baseUrl: string): Prepare {
  let prepared: PreparedRequest | undefined;
  const fetch = (request: PreparedRequest): typeof nothing => {
    prepared = request;
    return nothing;
  };
  // Every option is an own property, absent ones too: openapi-fetch would read them from a polluted prototype.
  const options = {
    baseUrl: undefined,
    bodySerializer: asItIs,
    fetch,
    headers: undefined,
    middleware: undefined,
    parseAs: undefined,
    pathSerializer: undefined,
    querySerializer: noQuery,
    Request: LightRequest,
  };
  const client = createFetchClient<Record<string, never>>({
    ...options,
    baseUrl,
    requestInitExt: undefined,
  } as never);
  // The request line of an operation without path parameters never changes: openapi-fetch is asked for it once.
  const fixed: Partial<Record<OperationId, PreparedRequest>> = Object.create(null);
  return (id, input) => {
    const { method, path } = operations[id];
    const body = input.body instanceof Multipart ? input.body : jsonOf(input.body);
    const known = fixed[id];
    if (known) return { url: known.url, method, body };
    prepared = undefined;
    void client.request(
      method as never,
      path as never,
      { ...options, body, params: { path: input.path, query: undefined, header: undefined } } as never,
    );
    if (prepared === undefined) throw new Error("openapi-fetch made no request.");
    if (input.path === undefined) fixed[id] = { ...(prepared as PreparedRequest), body: undefined };
    return prepared;
  };
}

// No operation has a query; the default would look for one in a polluted prototype.
function noQuery(): string {
  return "";
}

function asItIs(body: string | Multipart): string | Multipart {
  return body;
}
