import type http from "node:http";
import type { TransportRequest } from "./transport.js";

/** What node:http is asked for. */
export function requestOptions(
  { method, url, headers }: TransportRequest,
  agent: http.Agent,
): http.RequestOptions {
  return {
    ...absent,
    protocol: url.protocol,
    hostname: url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname,
    port: url.port,
    path: url.pathname,
    method,
    agent,
    headers,
  };
}

// Own properties: http.request would read them from a polluted prototype.
const absent = {
  auth: undefined,
  createConnection: undefined,
  defaultPort: undefined,
  insecureHTTPParser: undefined,
  joinDuplicateHeaders: undefined,
  maxHeaderSize: undefined,
  setHost: undefined,
  signal: undefined,
  socketPath: undefined,
  timeout: undefined,
  uniqueHeaders: undefined,
};
