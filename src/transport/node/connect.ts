// How a connection comes about: name lookup, TCP, the tunnel through a proxy, TLS.
import type { ClientRequest } from "node:http";
import type { Socket } from "node:net";
import { longestTimerMs } from "../../options/arguments.js";
import { memberOf } from "../../values.js";
import type { Exchange } from "../exchange.js";
import { isLate } from "../time.js";
import { type FailureReason, networkCode, type TransportRequest } from "../transport.js";
import { addressesTried, type EndOfAddress, refusedByProxy, textOf } from "./networkErrors.js";
import { connectOptions, eventLoopUtilization, hearErrors, onAddressFound, watchSockets } from "./quirks.js";

// How node:http names an agent that is none, or that is for the other protocol.
const refusedAgents: ReadonlySet<string> = new Set(["ERR_INVALID_ARG_TYPE", "ERR_INVALID_PROTOCOL"]);

/** Name lookup, TCP, the tunnel through a proxy and TLS as one phase, with one time for all of them. */
export class Connecting {
  readonly #message: ClientRequest;
  // Of the request only this is kept: an agent may hold on to what waits for a socket, but not to the body.
  readonly #secure: boolean;
  readonly #timeoutMs: number;
  readonly #agent: object;
  readonly #isOwn: boolean;
  readonly #exchange: Exchange & { connected(): void };
  #timer: NodeJS.Timeout | undefined;
  #direct: Addresses | undefined;
  #ended = false;

  /** @param pool Whose agent connects, and whether this client made that */
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

  /** Begins. @param queued Whether the request waits for one of the sockets that its agent has. */
  begin(queued: boolean): void {
    if (!queued) this.#startTimer();
    // Agents made with agent-base tell of the proxy's response to CONNECT by this event.
    this.#message.once("proxyConnect", (answer: unknown) => {
      const status = memberOf(answer, "statusCode");
      if (status !== 200 && typeof status === "number") this.refused(status);
    });
  }

  /** Goes on with the socket that the agent gave. */
  take(socket: Socket): void {
    if (isConnected(socket, this.#secure)) {
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

  /** The text of an error, which trying several addresses may have ended in. */
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
    // A longer time is as good as none.
    if (this.#timer !== undefined || this.#ended || this.#timeoutMs > longestTimerMs) return;
    const { active } = eventLoopUtilization();
    const dueAt = performance.now() + this.#timeoutMs;
    this.#timer = setTimeout(() => {
      const now = performance.now();
      const busyMs = eventLoopUtilization().active - active;
      // The time in which the loop was blocked was no time to connect. Once: a loop that is always busy is no excuse.
      if (isLate(dueAt, now) || busyMs > this.#timeoutMs / 2) {
        const leftMs = Math.min(Math.max(now - dueAt, busyMs), this.#timeoutMs);
        this.#timer = setTimeout(() => this.#timedOut(), leftMs);
      } else this.#timedOut();
    }, this.#timeoutMs);
  }

  #timedOut(): void {
    const ms = this.#timeoutMs;
    const tried = this.#addresses?.tried();
    this.#addresses?.failed(ms, true);
    const text = `No connection within ${ms} ms.${tried ? ` ${tried}` : ""}`;
    this.#exchange.failed(text, { reason: "connect-timeout" });
  }
}

/** Why a request could not even begin: an agent that cannot connect may say so at once. */
export function notBegun(cause: unknown, protocol: string): { text: string; reason: FailureReason } {
  const text = textOf(cause);
  return refusedAgents.has(networkCode(cause))
    ? { text: `agent cannot be used for an ${protocol} address: ${text}`, reason: "agent" }
    : { text, reason: "network" };
}

/** The status with which a proxy rejected a tunnel to Node's own agent (NODE_USE_ENV_PROXY). */
export function tunnelStatusOf(error: unknown): number | undefined {
  const status = memberOf(error, "statusCode");
  return memberOf(error, "code") === "ERR_PROXY_TUNNEL" && typeof status === "number" ? status : undefined;
}

/** Whether a new socket is connected already, as one from a caller's agent may be. */
function isConnected(socket: Socket & { readonly secureConnecting?: boolean }, secure: boolean): boolean {
  return !socket.destroyed && !socket.connecting && !(secure && socket.secureConnecting);
}

// The sockets that agents open to their proxies for a request. By request: an agent may serve several clients.
const opening = new WeakMap<ClientRequest, readonly Addresses[]>();

/** Notes which sockets an agent opens to its proxy for a request. @param isOwn Whether this client made the agent */
export function watchTunnels(agent: object, isOwn: boolean): void {
  watchSockets(agent, (request, sockets) => {
    for (const socket of sockets) hearErrors(socket);
    opening.set(
      request,
      sockets.map((socket) => new Addresses(socket, agent, isOwn)),
    );
  });
}

/** Ends the tunnel that is being opened for a request. */
function endTunnel(request: ClientRequest): void {
  for (const { socket } of opening.get(request) ?? []) {
    // The error tells an agent that still listens that there will be no tunnel.
    socket.on("error", () => {}).destroy(new Error("The request was ended."));
  }
}

/**
 * The addresses that a new socket of an agent's tries. Of a name with several, Node tries one after another, and ends each but
 * the last after 250 ms (500 on Node 26), however long there is to connect.
 */
export class Addresses {
  readonly socket: Socket;
  readonly #options: ReturnType<typeof connectOptions>;
  readonly #isOwn: boolean;
  // The milliseconds that the agent gave each address when it opened the socket; undefined for the platform's default.
  readonly #msEach: number | undefined;
  readonly #found: Set<string> = new Set();
  readonly #ended: EndOfAddress[] = [];
  #timedOut = false;

  /** @param isOwn Whether this client made the agent: those of a caller are left as they are */
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
        this.#ended.push({ address, code }),
      )
      .on("connectionAttemptTimeout", (address) => {
        this.#timedOut = true;
        this.#ended.push({ address, code: "ETIMEDOUT" });
      });
  }

  /** How trying each ended; undefined unless there are several. @param error What all of them ended in, if they have. */
  tried(error?: unknown): string | undefined {
    const attempted = this.#attempted;
    if (attempted === undefined) return undefined;
    const ends = memberOf(error, "errors") ?? attempted.map((address) => this.#endOf(address));
    const { getDefaultAutoSelectFamilyAttemptTimeout: ofPlatform } = process.getBuiltinModule("node:net");
    return addressesTried(ends as EndOfAddress[], this.#count, this.#msEach ?? ofPlatform());
  }

  /**
   * Notes that no connection came about. Where an address was given up too early, the next sockets of the same agent give
   * each its share of the time to connect.
   * @param late Whether that time is over
   */
  failed(connectTimeoutMs: number, late: boolean): void {
    const isUntried = late && this.#count - this.#ended.length > 1;
    if (!this.#timedOut && !isUntried) return;
    this.#give(Math.max(Math.floor(Math.min(connectTimeoutMs, longestTimerMs) / this.#count), 1));
  }

  /** Notes that there is a connection: to the last address, for which the others need no longer time. */
  connected(): void {
    const isLast = this.#attempted?.length === this.#found.size;
    if (this.#msEach !== undefined && this.#timedOut && isLast) this.#give(undefined);
  }

  // Undefined where the name has one address. Present from the first attempt on, also where the name was found at once.
  get #attempted(): readonly string[] | undefined {
    const { autoSelectFamilyAttemptedAddresses: attempted } = this.socket;
    return attempted?.map((address) => address.slice(0, address.lastIndexOf(":")));
  }

  get #count(): number {
    const { length } = this.#attempted ?? [];
    return length === 0 ? 1 : Math.max(this.#found.size, length, 2);
  }

  #endOf(address: string): EndOfAddress {
    const code = this.socket.connecting ? undefined : "";
    return this.#ended.find((end) => end.address === address) ?? { address, code };
  }

  #give(ms: number | undefined): void {
    if (!this.#isOwn) return;
    for (const options of this.#options) options.autoSelectFamilyAttemptTimeout = ms;
  }
}
