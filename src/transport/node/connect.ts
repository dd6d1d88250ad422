// How a connection is opened.
import type { ClientRequest } from "node:http";
import type { Socket } from "node:net";
import { longestTimerMs } from "../../options/arguments.js";
import { memberOf } from "../../values.js";
import { type Exchange, isSuccess, type TransportRequest } from "../exchange.js";
import { after, isLate } from "../time.js";
import { addressesTried, refusedByProxy } from "./networkErrors.js";
import {
  connectOptions,
  eventLoopUtilization,
  ignoreErrors,
  onAddressFound,
  watchSockets,
} from "./quirks.js";

/** A connection that is being opened for a request. */
export interface Connecting {
  /** Continues with the socket that the agent assigned. */
  take(socket: Socket): void;
  /** Stops connecting, and ends a tunnel that is still being opened. */
  end(): void;
}

/**
 * Opens a connection: name lookup, TCP, the tunnel through a proxy and TLS are one phase with one timeout. Does not keep
 * the request: an agent's queue may keep what is returned, and with it the body in memory.
 */
export function connecting(
  message: ClientRequest,
  { url: { protocol }, connectTimeoutMs: timeoutMs }: TransportRequest,
  { agent, isOwn }: { readonly agent: object; readonly isOwn: boolean },
  exchange: Exchange & { readonly isQueued: boolean; connected(): void },
): Connecting {
  const isSecure = protocol === "https:";
  let stopTimer: (() => void) | undefined;
  let direct: Addresses | undefined;
  let isOver = false;
  const addresses = (): Addresses | undefined => opening.get(message)?.[0] ?? direct;
  const stop = (): void => {
    isOver = true;
    stopTimer?.();
  };
  const connected = (): void => {
    if (isOver) return;
    stop();
    addresses()?.connected();
    exchange.connected();
  };
  const timedOut = (): void => {
    const tried = addresses()?.tried;
    addresses()?.failed(timeoutMs, true);
    const text = `No connection within ${timeoutMs} ms.${tried ? ` ${tried}` : ""}`;
    exchange.failed(text, { reason: "connect-timeout" });
  };
  const startTimer = (): void => {
    if (stopTimer || isOver) return;
    const { active } = eventLoopUtilization();
    const dueAt = performance.now() + timeoutMs;
    stopTimer = after(timeoutMs, () => {
      const now = performance.now();
      const busyMs = eventLoopUtilization().active - active;
      // While the loop was blocked, nothing could connect: the timer is extended by that time, once.
      if (isLate(dueAt, now) || busyMs > timeoutMs / 2)
        stopTimer = after(Math.min(Math.max(now - dueAt, busyMs), timeoutMs), timedOut);
      else timedOut();
    });
  };
  if (!exchange.isQueued) startTimer();
  // Agents made with agent-base report the proxy's response to CONNECT with this event.
  message.once("proxyConnect", (response: { statusCode: number; headers?: object }) => {
    const { statusCode: status } = response;
    // Any 2xx opens a tunnel (RFC 9110, section 9.3.6), but these agents know only 200.
    if (isSuccess(status)) response.statusCode = 200;
    // A limit with a time is read like any response: the agent gives it to the request.
    else if (status !== 429 || !memberOf(response.headers, "retry-after"))
      exchange.failed(...refusedByProxy(status));
  });
  return {
    take(socket) {
      // A socket of a caller's agent may be connected already.
      const { secureConnecting } = socket as Socket & { readonly secureConnecting?: boolean };
      if (!socket.destroyed && !socket.connecting && !(isSecure && secureConnecting)) return connected();
      direct = new Addresses(socket, agent, isOwn);
      startTimer();
      socket.once(isSecure ? "secureConnect" : "connect", connected);
    },
    end() {
      if (isOver) return;
      stop();
      addresses()?.failed(timeoutMs, false);
      for (const { socket } of opening.get(message) ?? []) {
        // The error tells an agent that still listens that there will be no tunnel.
        socket.on("error", () => {}).destroy(new Error("The request was ended."));
      }
    },
  };
}

// The longest response to CONNECT. Agents look for its end in all that has come, each time that more comes.
const mostTunnelBytes = 64 * 1024;

// For each request, the sockets that its agent opens to a proxy. One map, because clients may share an agent.
const opening = new WeakMap<ClientRequest, readonly Addresses[]>();

/** Records which sockets an agent opens to its proxy for a request. @param isOwn Whether this client made the agent */
export function watchTunnels(agent: object, isOwn: boolean): void {
  watchSockets(agent, (request, sockets) => {
    for (const socket of sockets) {
      ignoreErrors(socket);
      const { push } = socket;
      const unlimit = () => Reflect.deleteProperty(socket, "push");
      socket.push = (chunk, encoding) => {
        if (socket.bytesRead <= mostTunnelBytes) return push.call(socket, chunk, encoding);
        unlimit();
        socket.destroy(new Error("The proxy's response to CONNECT has no end."));
        return false;
      };
      request.once("socket", unlimit);
    }
    opening.set(
      request,
      sockets.map((socket) => new Addresses(socket, agent, isOwn)),
    );
  });
}

/**
 * The addresses that a new socket tries, one after another: Node gives up each but the last after 250 ms (500 on Node
 * 26), however long the connect timeout is.
 */
export class Addresses {
  readonly socket: Socket;
  readonly #options: ReturnType<typeof connectOptions>;
  // How many milliseconds the agent allowed for each address; undefined for Node's default.
  readonly #msEach: number | undefined;
  readonly #found: Set<string> = new Set();
  readonly #ended: Map<string, unknown> = new Map();
  #timedOut = false;

  /** @param isOwn Whether this client made the agent: a caller's agent is not changed */
  constructor(socket: Socket, agent: object, isOwn: boolean) {
    this.socket = socket;
    this.#options = isOwn ? connectOptions(agent) : [];
    this.#msEach = this.#options.map((options) => options.autoSelectFamilyAttemptTimeout).find(Boolean);
    onAddressFound(socket, (address) => this.#found.add(address));
    socket
      .on("connectionAttemptFailed", (address, _port, _family, { code }: NodeJS.ErrnoException) =>
        this.#ended.set(address, code),
      )
      .on("connectionAttemptTimeout", (address) => {
        this.#timedOut = true;
        this.#ended.set(address, "ETIMEDOUT");
      });
  }

  /** How many addresses were tried, and the last; undefined unless the host has several addresses. */
  get tried(): string | undefined {
    const attempted = this.#attempted;
    const last = attempted?.at(-1);
    if (attempted === undefined || last === undefined) return undefined;
    return addressesTried(attempted.length, this.#count, last, this.#ended.get(last) ?? "no response");
  }

  /**
   * No connection was made: if Node gave an address up early, the next sockets give each an equal share of the timeout.
   * @param late Whether the connect timeout is over
   */
  failed(connectTimeoutMs: number, late: boolean): void {
    const isUntried = late && this.#count - this.#ended.size > 1;
    if (!this.#timedOut && !isUntried) return;
    this.#give(Math.max(Math.floor(Math.min(connectTimeoutMs, longestTimerMs) / this.#count), 1));
  }

  /** If only the last address accepted the connection, the others get Node's short default time again. */
  connected(): void {
    const isLast = this.#attempted?.length === this.#found.size;
    if (this.#msEach !== undefined && this.#timedOut && isLast) this.#give(undefined);
  }

  // The addresses tried so far, known from the first one on; undefined if the host has one address.
  get #attempted(): readonly string[] | undefined {
    const { autoSelectFamilyAttemptedAddresses: attempted } = this.socket;
    return attempted?.map((address) => address.slice(0, address.lastIndexOf(":")));
  }

  get #count(): number {
    const { length } = this.#attempted ?? [];
    return length === 0 ? 1 : Math.max(this.#found.size, length, 2);
  }

  #give(ms: number | undefined): void {
    for (const options of this.#options) options.autoSelectFamilyAttemptTimeout = ms;
  }
}
