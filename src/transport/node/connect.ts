// How a connection is opened: name lookup, TCP, the tunnel through a proxy, TLS.
import type { ClientRequest } from "node:http";
import type { Socket } from "node:net";
import { longestTimerMs } from "../../options/arguments.js";
import { memberOf } from "../../values.js";
import { type Exchange, isSuccess, type TransportRequest } from "../exchange.js";
import { isLate } from "../time.js";
import { addressesTried, refusedByProxy } from "./networkErrors.js";
import {
  connectOptions,
  eventLoopUtilization,
  ignoreErrors,
  onAddressFound,
  watchSockets,
} from "./quirks.js";

/** Name lookup, TCP, the tunnel through a proxy and TLS as one phase, with one timeout for all of them. */
export class Connecting {
  readonly #message: ClientRequest;
  // These two are copied: an agent's queue may keep this object, and the whole request would keep its body in memory.
  readonly #secure: boolean;
  readonly #timeoutMs: number;

  readonly #agent: object;
  readonly #isOwn: boolean;
  readonly #exchange: Exchange & { connected(): void };
  #timer: NodeJS.Timeout | undefined;
  #direct: Addresses | undefined;
  #ended = false;

  /** @param pool The agent that connects, and whether this client made that agent */
  constructor(
    message: ClientRequest,
    request: TransportRequest,
    { agent, isOwn }: { readonly agent: object; readonly isOwn: boolean },
    exchange: Exchange & { connected(): void },
  ) {
    this.#message = message;
    this.#agent = agent;
    this.#isOwn = isOwn;
    this.#secure = request.url.protocol === "https:";
    this.#timeoutMs = request.connectTimeoutMs;
    this.#exchange = exchange;
  }

  /** Starts to connect. @param queued Whether the request waits for one of the sockets that its agent already has. */
  begin(queued: boolean): void {
    if (!queued) this.#startTimer();
    // Agents made with agent-base report the proxy's response to CONNECT with this event.
    this.#message.once("proxyConnect", (response: { statusCode: number; headers?: object }) => {
      const { statusCode: status } = response;
      // Any 2xx opens a tunnel (RFC 9110, section 9.3.6), but these agents know only 200.
      if (isSuccess(status)) response.statusCode = 200;
      // A limit with a time is read like any response: the agent gives it to the request.
      else if (status !== 429 || !memberOf(response.headers, "retry-after")) this.refused(status);
    });
  }

  /** Continues with the socket that the agent assigned. */
  take(socket: Socket): void {
    // A socket of a caller's agent may be connected already.
    const { secureConnecting } = socket as Socket & { readonly secureConnecting?: boolean };
    if (!socket.destroyed && !socket.connecting && !(this.#secure && secureConnecting)) {
      this.#connected();
      return;
    }
    this.#direct = new Addresses(socket, this.#agent, this.#isOwn);
    this.#startTimer();
    socket.once(this.#secure ? "secureConnect" : "connect", () => this.#connected());
  }

  refused(status: number): void {
    if (!this.#ended) this.#exchange.failed(...refusedByProxy(status));
  }

  /** Stops connecting, and ends a tunnel that is still being opened. */
  end(): void {
    if (this.#ended) return;
    this.#stop();
    this.#addresses?.failed(this.#timeoutMs, false);
    for (const { socket } of opening.get(this.#message) ?? []) {
      // The error tells an agent that still listens that there will be no tunnel.
      socket.on("error", () => {}).destroy(new Error("The request was ended."));
    }
  }

  #connected(): void {
    if (this.#ended) return;
    this.#stop();
    this.#addresses?.connected();
    this.#exchange.connected();
  }

  get #addresses(): Addresses | undefined {
    return opening.get(this.#message)?.[0] ?? this.#direct;
  }

  #stop(): void {
    this.#ended = true;
    clearTimeout(this.#timer);
  }

  #startTimer(): void {
    // A timeout longer than Node's longest timer (24.8 days) is as good as none.
    if (this.#timer !== undefined || this.#ended || this.#timeoutMs > longestTimerMs) return;
    const { active } = eventLoopUtilization();
    const dueAt = performance.now() + this.#timeoutMs;
    this.#timer = setTimeout(() => {
      const now = performance.now();
      const busyMs = eventLoopUtilization().active - active;
      // While the loop was blocked, nothing could connect, so the timer is extended by that time. It is extended only
      // once, in case the loop is always busy.
      if (isLate(dueAt, now) || busyMs > this.#timeoutMs / 2) {
        const leftMs = Math.min(Math.max(now - dueAt, busyMs), this.#timeoutMs);
        this.#timer = setTimeout(() => this.#timedOut(), leftMs);
      } else this.#timedOut();
    }, this.#timeoutMs);
  }

  #timedOut(): void {
    const ms = this.#timeoutMs;
    const tried = this.#addresses?.tried;
    this.#addresses?.failed(ms, true);
    const text = `No connection within ${ms} ms.${tried ? ` ${tried}` : ""}`;
    this.#exchange.failed(text, { reason: "connect-timeout" });
  }
}

// For each request, the sockets that its agent opens to a proxy. One map, because clients may share an agent.
const opening = new WeakMap<ClientRequest, readonly Addresses[]>();

/** Records which sockets an agent opens to its proxy for a request. @param isOwn Whether this client made the agent */
export function watchTunnels(agent: object, isOwn: boolean): void {
  watchSockets(agent, (request, sockets) => {
    for (const socket of sockets) {
      ignoreErrors(socket);
      limitTunnel(socket);
      request.once("socket", () => Reflect.deleteProperty(socket, "push"));
    }
    opening.set(
      request,
      sockets.map((socket) => new Addresses(socket, agent, isOwn)),
    );
  });
}

// The longest response to CONNECT. Agents look for its end in all that has come, each time that more comes.
const mostTunnelBytes = 64 * 1024;

function limitTunnel(socket: Socket): void {
  const { push } = socket;
  socket.push = (chunk, encoding) => {
    if (socket.bytesRead <= mostTunnelBytes) return push.call(socket, chunk, encoding);
    Reflect.deleteProperty(socket, "push");
    socket.destroy(new Error("The proxy's response to CONNECT has no end."));
    return false;
  };
}

/**
 * The addresses that a new socket tries. If a host has several, Node tries one after another, and gives up each but the
 * last after 250 ms (500 on Node 26), however long the connect timeout is.
 */
export class Addresses {
  readonly socket: Socket;
  readonly #options: ReturnType<typeof connectOptions>;
  readonly #isOwn: boolean;
  // How many milliseconds the agent allowed for each address when it opened the socket; undefined for Node's default.
  readonly #msEach: number | undefined;
  readonly #found: Set<string> = new Set();
  readonly #ended: Map<string, unknown> = new Map();
  #timedOut = false;

  /** @param isOwn Whether this client made the agent: a caller's agent is not changed */
  constructor(socket: Socket, agent: object, isOwn: boolean) {
    this.socket = socket;
    this.#options = connectOptions(agent);
    this.#isOwn = isOwn;
    this.#msEach = this.#options.find(
      (options) => options.autoSelectFamilyAttemptTimeout,
    )?.autoSelectFamilyAttemptTimeout;
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
   * Records that no connection was made. If Node gave an address up early, the agent's next sockets give each address
   * an equal share of the connect timeout.
   * @param late Whether the connect timeout is over
   */
  failed(connectTimeoutMs: number, late: boolean): void {
    const isUntried = late && this.#count - this.#ended.size > 1;
    if (!this.#timedOut && !isUntried) return;
    this.#give(Math.max(Math.floor(Math.min(connectTimeoutMs, longestTimerMs) / this.#count), 1));
  }

  /** Records the connection. If only the last address accepted it, the others get Node's short default time again. */
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
    if (!this.#isOwn) return;
    for (const options of this.#options) options.autoSelectFamilyAttemptTimeout = ms;
  }
}
