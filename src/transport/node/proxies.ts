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

/** What has to be redacted of a proxy: its user name and password, together and alone. A user name can be a token. */
export function proxyCredentialsOf(proxy: URL): string[] {
  const username = decodeURIComponent(proxy.username);
  const password = decodeURIComponent(proxy.password);
  const together = username && password && `${username}:${password}`;
  // Also as its URL has them: outside ASCII that is another text.
  return [together, password, username, proxy.password, proxy.username].filter((secret) => secret !== "");
}
