import { isLoopback, urlOf } from "./arguments.js";

/** Whether what listens on an address can be reached from this machine alone. */
export function isLoopbackAddress(address: string): boolean {
  return isLoopback(address.includes(":") ? `[${address}]` : address);
}

/** Whether a Host header names another machine, as it does for a web page whose name leads here (DNS rebinding). */
export function isForeignHost(host: string | undefined): boolean {
  return host !== undefined && !isLoopback(urlOf(`http://${host}`)?.hostname ?? "");
}

/** Whether an Origin header is that of a web page of another machine, or of no machine (`null`). */
export function isForeignOrigin(origin: string | undefined): boolean {
  return origin !== undefined && !isLoopback(urlOf(origin)?.hostname ?? "");
}
