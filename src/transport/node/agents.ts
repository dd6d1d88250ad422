import type http from "node:http";
import type { Transport, TransportOptions } from "../transport.js";
import { NodeExchange } from "./send.js";

/** Sends over node:http and node:https with keep-alive sockets, through the caller's agent when there is one. */
export function createNodeTransport({ maxConnections, agent }: TransportOptions): Transport {
  // getBuiltinModule, not import, so that instrumentation can patch it; and plain http never loads TLS.
  const modules: Partial<Record<string, typeof http>> = {};
  const own: Partial<Record<string, http.Agent>> = {};
  const agentFor = (module: typeof http, protocol: string): http.Agent => {
    if (agent !== undefined) return agent as http.Agent;
    own[protocol] ??= new module.Agent({
      keepAlive: true,
      maxSockets: maxConnections,
      scheduling: "lifo",
      // NODE_USE_ENV_PROXY sets it on the global agent (Node 22.21, 24.5 and newer).
      ...proxyOf(module),
    });
    return own[protocol];
  };
  return {
    send(request) {
      const { protocol } = request.url;
      modules[protocol] ??= process.getBuiltinModule(`node:${protocol.slice(0, -1)}`) as typeof http;
      const module = modules[protocol];
      return new NodeExchange(request, module, agentFor(module, protocol));
    },
    close() {
      for (const agent of Object.values(own)) if (agent) endIdle(agent);
    },
  };
}

function proxyOf(module: typeof http): { proxyEnv?: unknown } {
  const { proxyEnv } = (module.globalAgent as { options?: { proxyEnv?: unknown } }).options ?? {};
  return proxyEnv === undefined ? {} : { proxyEnv };
}

// Sockets at work finish what they do; Agent.destroy would cut them off.
function endIdle(agent: http.Agent): void {
  agent.maxFreeSockets = 0;
  for (const sockets of Object.values(agent.freeSockets))
    for (const socket of sockets ?? []) socket.destroy();
}
