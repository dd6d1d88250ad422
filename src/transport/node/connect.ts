import type { Agent, ClientRequest } from "node:http";
import { longestTimerMs } from "../../options/arguments.js";
import { memberOf } from "../../values.js";
import {
  type FailureReason,
  networkCode,
  refusedByProxy,
  type TransportRequest,
  textOf,
} from "../transport.js";
import { isLate } from "../turns.js";
import { Addresses } from "./addresses.js";
import type { PooledSocket } from "./pool.js";
import { endTunnel, isConnected, proxyAddresses } from "./sockets.js";

// Taken when this is loaded: tests put clocks of their own in its place.
const { eventLoopUtilization } = performance;

// How node:http names an agent that is none, or that is for the other protocol.
const refusedAgents: ReadonlySet<string> = new Set(["ERR_INVALID_ARG_TYPE", "ERR_INVALID_PROTOCOL"]);

export interface ConnectListener {
  connected(): void;
  failed(text: string, details: { reason: FailureReason; status?: number; advice?: string }): void;
}

/** Name lookup, TCP, the tunnel through a proxy and TLS as one phase, with one time for all of them. */
export class Connecting {
  readonly #message: ClientRequest;
  // Not the request: an agent may hold on to what waits for a socket, but not to the body.
  readonly #secure: boolean;
  readonly #timeoutMs: number;
  readonly #listener: ConnectListener;
  #timer: NodeJS.Timeout | undefined;
  #direct: Addresses | undefined;
  #ended = false;

  constructor(message: ClientRequest, request: TransportRequest, listener: ConnectListener) {
    this.#message = message;
    this.#secure = request.url.protocol === "https:";
    this.#timeoutMs = request.connectTimeoutMs;
    this.#listener = listener;
  }

  /** Begins. @param queued Whether the request waits for one of the sockets that its agent has. */
  begin(queued: boolean): void {
    if (!queued) this.#startTimer();
    // What agents of agent-base's kind say of the proxy's answer to CONNECT.
    this.#message.once("proxyConnect", (answer: unknown) => {
      const status = memberOf(answer, "statusCode");
      if (status !== 200 && typeof status === "number") this.refused(status);
    });
  }

  /** Goes on with the socket that the agent gave. */
  take(socket: PooledSocket): void {
    if (isConnected(socket, this.#secure)) {
      this.#connected();
      return;
    }
    this.#direct = new Addresses(socket, memberOf(this.#message, "agent") as Agent);
    this.#startTimer();
    socket.once(this.#secure ? "secureConnect" : "connect", () => this.#connected());
  }

  refused(status: number): void {
    if (!this.#ended) this.#listener.failed(...refusedByProxy(status));
  }

  /** What an error means in which trying several addresses ended. */
  textOf(error: Error): string {
    const tried = memberOf(error, "errors") ? this.#addresses?.tried(error) : undefined;
    return tried ?? textOf(error);
  }

  /** Ends what is still being opened. */
  end(): void {
    if (this.#ended) return;
    this.#stop();
    this.#addresses?.failed(this.#timeoutMs, false);
    endTunnel(this.#message);
  }

  #connected(): void {
    if (this.#ended) return;
    this.#stop();
    this.#addresses?.connected();
    this.#listener.connected();
  }

  get #addresses(): Addresses | undefined {
    return proxyAddresses(this.#message) ?? this.#direct;
  }

  #stop(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  #startTimer(): void {
    // A longer time is as good as none.
    if (this.#timer !== undefined || this.#ended || this.#timeoutMs > longestTimerMs) return;
    const { active } = eventLoopUtilization();
    const dueAt = performance.now() + this.#timeoutMs;
    this.#timer = setTimeout(() => {
      const now = performance.now();
      if (!isLate(dueAt, now)) this.#timedOut();
      // The time in which the loop was blocked was no time to connect. Once: a loop that is always busy is no excuse.
      else {
        const blockedMs = Math.max(now - dueAt, eventLoopUtilization().active - active);
        this.#timer = setTimeout(() => this.#timedOut(), Math.min(blockedMs, this.#timeoutMs));
      }
    }, this.#timeoutMs);
  }

  #timedOut(): void {
    const ms = this.#timeoutMs;
    const tried = this.#addresses?.tried();
    this.#addresses?.failed(ms, true);
    const text = `No connection within ${ms} ms.${tried ? ` ${tried}` : ""}`;
    this.#listener.failed(text, { reason: "connect-timeout" });
  }
}

/** Why a request could not even begin: an agent that cannot connect may say so at once. */
export function notBegun(cause: unknown, protocol: string): { text: string; reason: FailureReason } {
  const text = textOf(cause);
  return refusedAgents.has(networkCode(cause))
    ? { text: `agent cannot be used for an ${protocol} address: ${text}`, reason: "agent" }
    : { text, reason: "network" };
}

/** The status with which a proxy refused a tunnel to Node's own agent (NODE_USE_ENV_PROXY). */
export function tunnelStatusOf(error: unknown): number | undefined {
  const status = memberOf(error, "statusCode");
  return memberOf(error, "code") === "ERR_PROXY_TUNNEL" && typeof status === "number" ? status : undefined;
}

/** Whether an agent of the caller's has no socket for a request just made: it is the last of those that wait. */
export function isQueued(message: ClientRequest, { requests = {} }: Agent): boolean {
  return Object.values(requests).some((queue) => (queue?.at(-1) as unknown) === message);
}
