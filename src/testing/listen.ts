import type * as http from "node:http";
import type { AddressInfo } from "node:net";
import { invalid, refusal } from "../errors/statusError.js";
import { isForeignHost, isForeignOrigin, isLoopback, notify, urlOf } from "../values.js";
import { handle } from "./handle.js";
import { type MockResponse, Refusal, responseBytes } from "./mockResponse.js";
import { maxFormBytes } from "./receive.js";
import type { MockState } from "./state.js";
import type { ListenOptions, TestServer } from "./types.js";

/** Starts the mock server on a port. @throws StatusError if there is no node:http, or the port is taken. */
export async function listen(
  state: MockState,
  { port = 0, host = "127.0.0.1", onRequest, allowOrigins = [] }: ListenOptions,
): Promise<TestServer> {
  // node:http is loaded by name at run time, so that bundlers do not try to include it.
  const node = globalThis.process?.getBuiltinModule?.("node:http");
  if (node === undefined) {
    const message = "This runtime has no node:http to listen with: pass service.fetch instead.";
    throw refusal("UNIMPLEMENTED", undefined, message);
  }
  const server = node.createServer((request, response) => {
    const { method = "", url = "", headers } = request;
    const started = performance.now();
    response.once("close", () => {
      const requestId = response.getHeader("x-request-id") as string | undefined;
      const [path = ""] = url.split("?");
      const status = response.headersSent ? response.statusCode : undefined;
      notify(onRequest, { method, path, status, requestId, durationMs: performance.now() - started });
    });
    if (isLoopback(host) && isForeignHost(headers.host)) {
      send(response, foreign);
      return;
    }
    for (const header of corsHeaders(headers, allowOrigins)) response.setHeader(...header);
    // A CORS preflight: the browser asks which requests the page may send.
    if (method === "OPTIONS" && headers["access-control-request-method"] !== undefined)
      response.writeHead(204).end();
    else void serve(state, request, response);
  });
  await new Promise<void>((resolve, reject) => {
    const hint = "Choose another port, or 0 for any free one.";
    const taken = `Port ${port} of ${host} is taken (EADDRINUSE).`;
    const fail = (cause: NodeJS.ErrnoException): void => {
      const isTaken = cause.code === "EADDRINUSE";
      reject(isTaken ? refusal("FAILED_PRECONDITION", "port", taken, { cause, hint }) : cause);
    };
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

// The response to a foreign Host header: by DNS rebinding, a web page could otherwise read the mock data.
const { response: foreign } = new Refusal(
  "PERMISSION_DENIED",
  "The mock server listens on this machine alone and was called by another name. Call it as 127.0.0.1 or localhost, or have it listen on another host.",
);

async function serve(
  state: MockState,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<void> {
  const controller = new AbortController();
  response.on("close", () => controller.abort());
  const body = await read(request).catch(() => null);
  // The client disconnected before its request was complete: ignore the request.
  if (body === null) return;
  const { method = "", url = "" } = request;
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, `${value}`]),
  );
  const [path = "", query = ""] = url.split(/\?(.*)/s);
  const { signal } = controller;
  const { kind, response: said } = await handle(state, { method, path, query, headers, body, signal });
  if (kind === "reset") response.socket?.resetAndDestroy();
  else if (kind !== "stall") send(response, said, kind === "truncate");
}

// Reads the body; undefined if it is too large. Such a body is read to its end and discarded, because the client reads
// a response only after it has sent the whole request.
async function read(request: http.IncomingMessage): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > maxFormBytes) chunks.length = 0;
    else chunks.push(chunk);
  }
  if (size > maxFormBytes) return undefined;
  return globalThis.process.getBuiltinModule("node:buffer").Buffer.concat(chunks);
}

function send(response: http.ServerResponse, { status, headers, body }: MockResponse, isCut = false): void {
  const bytes = responseBytes(body);
  // Set with setHeader, not writeHead, so that getHeader returns them after the response was sent.
  for (const header of Object.entries(headers)) response.setHeader(...header);
  // A response with status 204 has no body, and may not have a Content-Length.
  if (status !== 204) response.setHeader("content-length", bytes.length);
  response.writeHead(status);
  if (isCut) response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
  else response.end(bytes);
}

/** Checks `allowOrigins`, the origins that are allowed in addition to those of this machine. */
export function checkOrigins(origins: unknown, what: string): unknown {
  if (Array.isArray(origins) && origins.every(isOrigin)) return origins;
  throw invalid(what, `${what} must be a list of origins such as "https://app.example.com".`);
}

function isOrigin(text: unknown): boolean {
  return urlOf(text)?.origin === text;
}

// The CORS headers that let a page of an allowed origin read the response; only `vary` for any other origin, such as
// `null`, which a sandboxed frame of any site has.
function corsHeaders(
  { origin, "access-control-request-headers": asked }: http.IncomingHttpHeaders,
  allowed: readonly string[],
): [name: string, value: string][] {
  if (origin === undefined) return [];
  const isAllowed = allowed.includes(origin) || (isOrigin(origin) && !isForeignOrigin(origin));
  if (!isAllowed) return [["vary", "Origin"]];
  return [
    ["vary", "Origin"],
    ["access-control-allow-origin", origin],
    ["access-control-allow-methods", "GET, HEAD, POST, PUT, PATCH, DELETE"],
    ["access-control-allow-headers", asked ?? "authorization, content-type"],
    ["access-control-expose-headers", "x-request-id, retry-after"],
    ["access-control-max-age", "600"],
  ];
}
