import type http from "node:http";
import type { TransportRequest } from "../transport.js";

/** What node:http is asked for. */
export function requestOptions(
  { method, url, headers }: TransportRequest,
  agent: http.Agent,
  protocol: string | undefined,
): http.RequestOptions {
  const options: http.RequestOptions = {
    hostname: url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname,
    port: url.port,
    path: url.pathname + url.search,
    method,
    agent,
    headers,
  };
  if (protocol !== undefined) options.protocol = protocol;
  return isPolluted() ? { ...absent, ...options } : options;
}

// http.request reads these from a polluted Object.prototype unless they are own properties. Added only then: each
// property costs about 2 µs a request, since agents copy the options into an object without a prototype.
const absent = {
  _defaultAgent: undefined,
  auth: undefined,
  createConnection: undefined,
  defaultPort: undefined,
  insecureHTTPParser: undefined,
  joinDuplicateHeaders: undefined,
  maxHeaderSize: undefined,
  protocol: undefined,
  setHost: undefined,
  signal: undefined,
  socketPath: undefined,
  timeout: undefined,
  uniqueHeaders: undefined,
};
const names: readonly string[] = Object.keys(absent);

function isPolluted(): boolean {
  return names.some((name) => name in Object.prototype);
}
