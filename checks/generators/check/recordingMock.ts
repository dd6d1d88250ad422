import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { parse } from "yaml";
import type { ErrorRow as ConformanceRow } from "../../../src/conformance/data.js";
import { generators, root } from "./toolchains.js";

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

/** An error response of the conformance data. */
export type ErrorRow = Pick<ConformanceRow, "name" | "status" | "headers" | "body" | "bodyBase64">;

/** What the mock sends besides the first example of each operation. */
export interface KnownResponses {
  /** The jobs that every caller reads, by the id it asks for. */
  readonly jobs: Readonly<Record<string, unknown>>;
  /** The errors whose status every caller hands on: that of deployment `error-N` is row N. */
  readonly errors: readonly ErrorRow[];
}

interface PostedContract {
  readonly paths: Readonly<Record<string, { readonly post?: Posted }>>;
}

interface Posted {
  readonly responses: {
    readonly "200": {
      readonly content: {
        readonly "application/json": {
          readonly schema: { readonly $ref: string };
          readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
        };
      };
    };
  };
}

/** The example jobs of a document, the two of this folder, and the error responses of the conformance data. */
export async function readResponses(document: string): Promise<KnownResponses> {
  const contract: PostedContract = parse(await readFile(document, "utf8"));
  const responses = Object.values(contract.paths).map(
    ({ post }) => post?.responses["200"].content["application/json"],
  );
  const { examples = {} } =
    responses.find((each) => each?.schema.$ref.endsWith("/ReinforcementFineTuningJob")) ?? {};
  const jobs = Object.entries(examples).map(([name, { value }]) => [name, value] as const);
  const { rows } = await readJson<{ rows: ErrorRow[] }>(join(root, "contract/conformance/errors.json"));
  return {
    jobs: {
      ...Object.fromEntries(jobs),
      ...(await readJson<object>(join(generators, "jobs.json"))),
    },
    errors: rows.filter(({ status }) => typeof status === "number"),
  };
}

async function readJson<T>(path: string): Promise<T> {
  return JSON.parse(await readFile(path, "utf8")) as T;
}
