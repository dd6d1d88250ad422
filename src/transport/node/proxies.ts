// Loaded only when a client has the option `proxy`. Imports nothing of the rest, so that it is a file by itself.
import type http from "node:http";
import { HttpsProxyAgent } from "https-proxy-agent";
import { parseProxy, proxyFromEnvironment } from "./proxyUrls.js";

/** The proxy that requests to an address go through, by the option `proxy`; undefined for none. @throws ProxyError */
export function proxyFor(url: URL, proxy: string): URL | undefined {
  return proxy === "env" ? proxyFromEnvironment(url, process.env) : parseProxy(proxy, "proxy");
}

/** An agent whose every connection is a tunnel (CONNECT) through a proxy, for http as for https. */
export function createProxyAgent(proxy: URL, options: http.AgentOptions): http.Agent {
  return new HttpsProxyAgent(proxy, options);
}

/**
 * What has to be redacted of a proxy: its user name and password, together and alone, as the URL has them, and as the
 * bytes of UTF-8, of which base64 is made. A user name can be a token.
 */
export function proxyCredentialsOf(proxy: URL): string[] {
  const username = decodeURIComponent(proxy.username);
  const password = decodeURIComponent(proxy.password);
  const together = username && password && `${username}:${password}`;
  const decoded = [together, password, username];
  const bytes = decoded.map((secret) => Buffer.from(secret).toString("latin1"));
  // Outside ASCII they differ.
  return [...new Set([...decoded, ...bytes, proxy.password, proxy.username])].filter(
    (secret) => secret !== "",
  );
}
