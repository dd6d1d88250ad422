import type { Agent, ProxyAgent } from "undici";
import { certifyOwnClient } from "./certifyOwnClient.js";

/**
 * undici makes a lost connection of a 100 and a 101, and of the alert with which a server asks for a certificate; which connection
 * a request takes is its own choice, and how long it waits for a tunnel. The second program of a row is started over node:http only.
 */
export const hiddenByUndici: readonly string[] = [
  "ca-certificate",
  "connections",
  "proxy-environment",
  "status-100",
  "status-101",
  "tunnel-timeout",
  "two-programs",
];

/** Our own client under the runner, over the dispatchers of an undici, which are ended with it. */
export async function certifyOverUndici(
  runner: string,
  undici: {
    readonly Agent: typeof Agent;
    readonly ProxyAgent: typeof ProxyAgent;
  },
): Promise<void> {
  const made: { destroy(): Promise<void> }[] = [];
  const optionsOf: Parameters<typeof certifyOwnClient>[1] = ({
    proxy,
    options: { connectTimeoutMs: timeout },
  }) => {
    const dispatcher = proxy
      ? new undici.ProxyAgent(proxy)
      : new undici.Agent({ ...(timeout && { connect: { timeout } }) });
    made.push(dispatcher);
    return { dispatcher };
  };
  await certifyOwnClient(runner, optionsOf, hiddenByUndici);
  await Promise.all(made.map((each) => each.destroy()));
}
