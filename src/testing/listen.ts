import type * as http from "node:http";
import type { AddressInfo } from "node:net";
import { invalid, refusal } from "../errors/statusError.js";
import { checkCallback, checkInteger } from "../options/arguments.js";
import { isForeignHost, isLoopback, notify } from "../values.js";
import { handle, type MockReply, type Parts } from "./handle.js";
import { jsonResponse, responseBytes } from "./mockResponse.js";
import { maxFormBytes } from "./receive.js";
import type { ListenOptions, TestServer } from "./types.js";

/** Starts the mock server on a port. @throws StatusError if there is no node:http, or an option cannot be used. */
export async function listen(parts: Parts, options: ListenOptions): Promise<TestServer> {
  const { host = "127.0.0.1", onRequest, allowOrigins = [] } = options;
  const port = checkInteger(options.port ?? 0, "port", 0);
  checkCallback(onRequest, "onRequest");
  const origins = checkOrigins(allowOrigins);
  const onlyHere = isLoopback(host);
  // node:http is loaded by name at run time, so that bundlers do not try to include it.
  const node = globalThis.process?.getBuiltinModule?.("node:http");
  if (node === undefined) throw refusal("UNIMPLEMENTED", undefined, noHttp);
  const server = node.createServer((request, response) => {
    if (onRequest) publishWhenDone(request, response, onRequest);
    if (onlyHere && isForeignHost(request.headers.host)) {
      deliver(response, { kind: "response", response: foreign });
      return;
    }
    // A CORS preflight: the browser asks which requests the page may send.
    if (request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined) {
      response.writeHead(204, preflightHeaders(request.headers, origins)).end();
      return;
    }
    for (const [name, value] of Object.entries(corsHeaders(request.headers, origins)))
      response.setHeader(name, value);
    void serve(parts, request, response);
  });
  await new Promise<void>((resolve, reject) => {
    const fail = (cause: NodeJS.ErrnoException): void =>
      reject(cause.code === "EADDRINUSE" ? portTaken(port, host, cause) : cause);
    server.once("error", fail).listen(port, host, resolve);
  });
  const { port: chosen } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${chosen}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const noHttp = "This runtime has no node:http to listen with: pass service.fetch instead.";

// The response to a request with a foreign Host header: by DNS rebinding, a web page could otherwise read the mock
// data.
const foreign = jsonResponse(
  {
    code: "PERMISSION_DENIED",
    message:
      "The mock server listens on this machine alone and was called by another name. Call it as 127.0.0.1 or localhost, or have it listen on another host.",
  },
  403,
);

function portTaken(port: number, host: string, cause: Error): Error {
  return refusal("FAILED_PRECONDITION", "port", `Port ${port} of ${host} is taken (EADDRINUSE).`, {
    cause,
    hint: "Choose another port, or 0 for any free one.",
  });
}

function publishWhenDone(
  { method = "", url = "" }: http.IncomingMessage,
  response: http.ServerResponse,
  onRequest: NonNullable<ListenOptions["onRequest"]>,
): void {
  const started = performance.now();
  response.once("close", () => {
    const requestId = response.getHeader("x-request-id");
    notify(onRequest, {
      method,
      path: url.split("?")[0] as string,
      status: response.headersSent ? response.statusCode : undefined,
      requestId: typeof requestId === "string" ? requestId : undefined,
      durationMs: performance.now() - started,
    });
  });
}

async function serve(
  parts: Parts,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<void> {
  const controller = new AbortController();
  response.on("close", () => controller.abort());
  const body = await read(request).catch(() => null);
  // The client disconnected before its request was complete: ignore the request.
  if (body === null) return;
  const { method = "", url = "", headers } = request;
  const own = Object.entries(headers).map(([name, value]) => [name, `${value}`]);
  const [path = "", query = ""] = url.split(/\?(.*)/s);
  const incoming = { method, path, query, headers: Object.fromEntries(own), body, signal: controller.signal };
  deliver(response, await handle(parts, incoming));
}

// Reads the body; undefined if it is too large. Such a body is read to its end and discarded, because the client reads
// a response only after it has sent the whole request.
async function read(request: http.IncomingMessage): Promise<Uint8Array | undefined> {
  let chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > maxFormBytes) chunks = [];
    else chunks.push(chunk);
  }
  if (size > maxFormBytes) return undefined;
  return globalThis.process.getBuiltinModule("node:buffer").Buffer.concat(chunks);
}

function deliver(response: http.ServerResponse, { kind, response: said }: MockReply): void {
  if (kind === "stall") return;
  if (kind === "reset") {
    response.socket?.resetAndDestroy();
    return;
  }
  const bytes = responseBytes(said.body);
  // Set with setHeader, not writeHead, so that getHeader returns it after the response was sent.
  const id = said.headers["x-request-id"];
  if (id !== undefined) response.setHeader("x-request-id", id);
  const { status, headers } = said;
  // A response with status 204 has no body, and may not have a Content-Length.
  response.writeHead(status, { ...headers, ...(status !== 204 && { "content-length": bytes.length }) });
  if (kind === "response") response.end(bytes);
  else response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
}

const local = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/;

type CorsHeaders = Readonly<Record<string, string | string[] | undefined>>;

// Checks `allowOrigins`, the origins that are allowed in addition to those of this machine.
function checkOrigins(origins: unknown): ReadonlySet<string> {
  if (!Array.isArray(origins)) throw invalid("allowOrigins", "allowOrigins must be a list of origins.");
  for (const origin of origins) {
    const isOrigin = typeof origin === "string" && URL.canParse(origin) && new URL(origin).origin === origin;
    if (!isOrigin)
      throw invalid("allowOrigins", 'allowOrigins must hold origins such as "https://app.example.com".');
  }
  return new Set(origins);
}

// The CORS headers that let a page of an allowed origin read the response; only `vary` for any other origin.
function corsHeaders(headers: CorsHeaders, allowed: ReadonlySet<string>): Record<string, string> {
  const { origin } = headers;
  if (typeof origin !== "string") return {};
  const isAllowed = local.test(origin) || allowed.has(origin);
  if (!isAllowed) return { vary: "Origin" };
  return {
    vary: "Origin",
    "access-control-allow-origin": origin,
    "access-control-expose-headers": "x-request-id, retry-after",
  };
}

function preflightHeaders(headers: CorsHeaders, allowed: ReadonlySet<string>): Record<string, string> {
  const found = corsHeaders(headers, allowed);
  if (found["access-control-allow-origin"] === undefined) return found;
  const asked = headers["access-control-request-headers"];
  return {
    ...found,
    "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
    "access-control-allow-headers": typeof asked === "string" ? asked : "authorization, content-type",
    "access-control-max-age": "600",
    ...(headers["access-control-request-private-network"] === "true" && {
      "access-control-allow-private-network": "true",
    }),
  };
}
