import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import type { KnownResponses } from "./responses.js";

/** One request as it came over the wire. */
export interface RecordedRequest {
  readonly method: string;
  /** Path and query, not decoded. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer<ArrayBuffer>;
}

export interface RecordingMock {
  readonly url: string;
  /** The requests since this was last called. */
  take(): RecordedRequest[];
  stop(): Promise<void>;
}

/**
 * Responds to each operation with the document's example, a job or an error by its id, or 404 where an id is "missing";
 * checks nothing, keeps all.
 */
export async function startRecordingMock(
  document: string,
  responses: KnownResponses,
): Promise<RecordingMock> {
  const routes = await readRoutes(document);
  let requests: RecordedRequest[] = [];
  const server = createServer(async (request, response) => {
    const { method = "", url = "", headers } = request;
    requests.push({ method, url, headers, body: Buffer.from(await buffer(request)) });
    if (!respondById(response, responses, url)) respond(response, routes, method, url);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    take() {
      const taken = requests;
      requests = [];
      return taken;
    },
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

// One job of several, or an error: whether the id in the path is the name of one.
function respondById(response: ServerResponse, { jobs, errors }: KnownResponses, url: string): boolean {
  const [, id = ""] = /\/([^/]+):\w+$/.exec(url) ?? [];
  const error = errors[Number(/^error-(\d+)$/.exec(id)?.[1] ?? -1)];
  if (error !== undefined) {
    const { status, headers, body = "", bodyBase64 } = error;
    response.writeHead(status, headers);
    response.end(bodyBase64 === undefined ? body : Buffer.from(bodyBase64, "base64"));
    return true;
  }
  const job = jobs[id];
  if (job === undefined) return false;
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(job));
  return true;
}

function respond(response: ServerResponse, routes: readonly Route[], method: string, url: string): void {
  const route = routes.find((each) => each.method === method && each.path.test(url));
  const isMissing = url.includes("/missing:");
  const given = isMissing ? route?.notFound : route?.response;
  if (given?.status === 204) {
    response.writeHead(204).end();
    return;
  }
  const { status, type, value } = given ?? { status: 501, type: json, value: { code: "UNIMPLEMENTED" } };
  response.writeHead(status, { "content-type": type });
  response.end(type === json ? JSON.stringify(value) : value);
}

/** One operation of the contract, and the first example of each response that the recording mock gives. */
export interface Route {
  readonly method: string;
  /** Matches a path as it is sent. */
  readonly path: RegExp;
  readonly response: Example;
  readonly notFound: Example;
}

const json = "application/json";

interface Example {
  readonly status: number;
  readonly type: string;
  readonly value: unknown;
}

interface ContractResponse {
  readonly $ref?: string;
  readonly content?: Readonly<
    Record<string, { readonly examples: Readonly<Record<string, { value: unknown }>> }>
  >;
}

interface Contract {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { responses: Record<string, ContractResponse> }>>>
  >;
  readonly components: { readonly responses: Readonly<Record<string, ContractResponse>> };
}

/** Reads the operations of a document in JSON. */
export async function readRoutes(document: string): Promise<Route[]> {
  const contract: Contract = JSON.parse(await readFile(document, "utf8"));
  return Object.entries(contract.paths).flatMap(([path, item]) =>
    // Parameters of a path stand beside its methods.
    Object.entries(item)
      .filter(([method]) => method !== "parameters")
      .map(([method, { responses }]) => ({
        method: method.toUpperCase(),
        path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/?]+")}(\\?|$)`),
        response: firstExample(contract, responses, "200" in responses ? 200 : 204),
        notFound: firstExample(contract, responses, 404),
      })),
  );
}

function firstExample(
  { components }: Contract,
  responses: Readonly<Record<string, ContractResponse>>,
  status: number,
): Example {
  const response = responses[status];
  const named = response?.$ref?.split("/").at(-1);
  const { content } = (named === undefined ? response : components.responses[named]) ?? {};
  const [[type, media] = [json, undefined]] = Object.entries(content ?? {});
  const [example] = Object.values(media?.examples ?? {});
  if (example === undefined && status !== 204) throw new Error("A response of the contract has no example.");
  return { status, type, value: example?.value };
}
