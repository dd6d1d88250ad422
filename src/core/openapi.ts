// Everything that touches openapi-fetch, so that it can be replaced in this one file.
import createFetchClient from "openapi-fetch";
import { type OperationId, operations } from "../generated/contract.js";
import type { paths, operations as Schema } from "../generated/schema.js";
import type { Multipart } from "./multipart.js";
import type { TransportResponse } from "./transport/transport.js";

// JSON leaves a field that is undefined out, so a caller may say so.
type Sendable<T> = { [K in keyof T]: Record<never, never> extends Pick<T, K> ? T[K] | undefined : T[K] };

type Body<Id extends OperationId> = Schema[Id]["requestBody"] extends {
  readonly content: { readonly "application/json": infer Json };
}
  ? Sendable<Json>
  : Multipart;

/** What the contract asks of one operation: its path parameters and its body. */
export interface OperationInput<Id extends OperationId> {
  readonly path: Schema[Id]["parameters"]["path"] extends object
    ? Schema[Id]["parameters"]["path"]
    : undefined;
  readonly body: Body<Id>;
}

/** The request openapi-fetch made of an operation. */
export interface PreparedRequest {
  readonly url: string;
  readonly method: string;
  readonly body: string | Multipart | undefined;
}

/** Turns an operation into a request and hands it to `send`. */
export type Dispatch = <Id extends OperationId>(
  id: Id,
  input: OperationInput<Id>,
  send: (request: PreparedRequest) => Promise<TransportResponse>,
) => Promise<TransportResponse>;

/** Stands in for the platform's Request, which would copy everything and buffer the body. */
class LightRequest {
  readonly url: string;
  readonly method: string;
  readonly body: string | Multipart | undefined;
  constructor(url: string, init: { method: string; body: string | Multipart | undefined }) {
    this.url = url;
    this.method = init.method;
    this.body = init.body;
  }
}

/** Stands in for the platform's Response: the transport has read the body already. */
class LightResponse {
  readonly answer: TransportResponse;
  readonly status: number;
  readonly ok: boolean;
  readonly body: string;
  readonly headers: { get(name: string): string | null } = { get: () => null };
  constructor(answer: TransportResponse) {
    this.answer = answer;
    this.status = answer.status;
    this.ok = answer.status >= 200 && answer.status < 300;
    this.body = answer.text;
  }
  async text(): Promise<string> {
    return "";
  }
}

/** Operations of the contract, with openapi-fetch making their URL and body. */
export function createDispatch(baseUrl: string): Dispatch {
  // Every option is an own property, absent ones too: openapi-fetch would read them from a polluted prototype.
  const absent = {
    baseUrl: undefined,
    fetch: undefined,
    headers: undefined,
    middleware: undefined,
    pathSerializer: undefined,
    querySerializer: undefined,
    requestInitExt: undefined,
  };
  const client = createFetchClient<paths>({
    ...absent,
    baseUrl,
    Request: LightRequest,
    bodySerializer: (body: unknown) => (isMultipart(body) ? body : JSON.stringify(body)),
  } as never);
  return async (id, input, send) => {
    const { method, path } = operations[id];
    const fetch = async (request: LightRequest) => new LightResponse(await send(request));
    const result = (await client.request(
      method as never,
      path as never,
      {
        ...absent,
        Request: LightRequest,
        fetch,
        body: input.body,
        bodySerializer: undefined,
        params: { path: input.path, query: undefined, header: undefined, cookie: undefined },
        parseAs: "stream",
      } as never,
    )) as unknown as { response: LightResponse };
    return result.response.answer;
  };
}

function isMultipart(body: unknown): body is Multipart {
  return typeof body === "object" && body !== null && "file" in body && "tail" in body;
}
